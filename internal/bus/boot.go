package bus

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"choiros/internal/choir"
)

// maxLine bounds one line on a role's standard input, in bytes.
const maxLine = 256 << 10

// Boot is the first line on a role's standard input: who it is and how far it
// may go. Every later line is new Credentials.
type Boot struct {
	User        choir.ID        `json:"user" choir:"id" doc:"Owner of the computer."`
	Computer    choir.ID        `json:"computer" choir:"id" doc:"The computer."`
	Role        choir.Role      `json:"role" choir:"enum=director|associate" doc:"What the process is."`
	Credentials Credentials     `json:"credentials" doc:"Its first identity on the bus."`
	Limits      choir.RunLimits `json:"limits" doc:"How far one run may go."`
	Start       Start           `json:"start" doc:"Where the Director begins to read the log."`
}

// Start spares the Director what the log tells of runs that are over.
type Start struct {
	After    uint64   `json:"after,omitempty" choir:"range=0..9007199254740991" doc:"Every run that is not over began after this event."`
	Projects []string `json:"projects,omitempty" choir:"len=0..1000,each=1..100" doc:"The projects there were then, in the order in which they came."`
}

// ReadBoot reads the first line. The error is an *choir.Error with the path of
// the field, or io.EOF when the input ended before a line began.
func ReadBoot(r *bufio.Reader) (Boot, error) {
	var b Boot
	line, err := readLine(r)
	if err != nil {
		return b, err
	}
	return b, choir.DecodeStrict(line, &b)
}

// ReadCredentials reads a later line; io.EOF when there is none.
func ReadCredentials(r *bufio.Reader) (Credentials, error) {
	var c Credentials
	line, err := readLine(r)
	if err != nil {
		return c, err
	}
	return c, choir.DecodeStrict(line, &c)
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, choir.E("bus.boot", choir.CodeTooLarge, "a line of more than %d bytes on standard input", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, choir.E("bus.boot", choir.CodeInvalid, "standard input ended inside a line of %d bytes", len(line))
		case err != nil:
			return nil, err
		}
		return bytes.TrimSpace(line), nil
	}
}
