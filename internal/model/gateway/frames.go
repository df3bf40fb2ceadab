package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxAnswer is the maximum size of one answer, in bytes.
const maxAnswer = 64 << 20

// readFrames reads frames from server-sent events, passes deltas to on, and returns the
// response or the error frame. again reports that the stream broke off before either.
func readFrames(ctx context.Context, r io.Reader, on func(model.Delta)) (resp model.Response, again bool, err error) {
	lines := bufio.NewReader(io.LimitReader(r, maxAnswer))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return resp, true, connectionError(ctx, io.ErrUnexpectedEOF)
		}
		data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data: "))
		if !ok {
			continue
		}
		var f model.Frame
		if err := json.Unmarshal(data, &f); err != nil {
			return resp, false, choir.Wrap("model.call", choir.CodeInternal, err, "the model gateway sent a malformed frame")
		}
		switch {
		case f.Error != nil:
			return resp, false, f.Error.Err("model.call")
		case f.Response != nil:
			return *f.Response, false, nil
		case f.Delta != nil:
			on(*f.Delta)
		}
	}
}
