package egress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// upload is the body of a request, which a client sends while the proxy carries it to the host.
type upload struct {
	io.ReadCloser
	of    *passage
	ended atomic.Bool // it was read to its end
}

// Read implements io.Reader. It cuts the passage of a client that is gone before its body ends: the
// host may have answered by then. http.Server closes the body when an answer begins before its end.
func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err == io.EOF {
		u.ended.Store(true)
	}
	if err != nil && err != io.EOF && !errors.Is(err, http.ErrBodyReadAfterClose) {
		u.of.cut("error")
	}
	return n, err
}

// limitUpload makes the body of a request to the host end with the passage, and cuts the passage once
// no byte has passed for the idle time. Without it http.Transport waits for a client that sends no
// more, also when the host is gone. The caller calls stop when the request has ended.
func (o *passage) limitUpload(w http.ResponseWriter, out *http.Request, idle time.Duration) (stop func()) {
	if out.Body == nil {
		return func() {}
	}
	body := &upload{ReadCloser: out.Body, of: o}
	out.Body = body
	client := http.NewResponseController(w)
	release := context.AfterFunc(o.ctx, func() {
		if !body.ended.Load() {
			_ = client.SetReadDeadline(time.Unix(1, 0))
		}
	})
	over, watch := make(chan struct{}), sync.WaitGroup{}
	watch.Go(func() { o.cutIdle(over, idle) })
	return func() {
		close(over)
		watch.Wait()
		if !release() {
			// The deadline may have passed, which ends the context of each later request of the
			// connection.
			w.Header().Set("Connection", "close")
		}
	}
}
