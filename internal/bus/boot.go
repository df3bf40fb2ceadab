package bus

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"choiros/internal/choir"
)

// maxLine limits a line on a role's standard input, in bytes.
const maxLine = 256 << 10

// Boot is the first line on a role's standard input: the role's identity, credentials and
// limits. Every later line is new Credentials.
type Boot struct {
	User        choir.ID        `json:"user" choir:"id" doc:"Owner of the computer."`
	Computer    choir.ID        `json:"computer" choir:"id" doc:"The computer."`
	Role        choir.Role      `json:"role" choir:"enum=director|associate" doc:"What the process is."`
	Credentials Credentials     `json:"credentials" doc:"Its first identity on the bus."`
	Limits      choir.RunLimits `json:"limits" doc:"How far one run may go."`
	Start       Start           `json:"start" doc:"Where the role begins to read the log."`
}

// Start is where a role begins to read the log: after the events that the Director (of
// finished runs) or the Associate (of answered tasks) does not need.
type Start struct {
	After    uint64     `json:"after,omitempty" choir:"range=0..9007199254740991" doc:"Every run that is not over, or every task without an answer, began after this event."`
	Begun    []choir.ID `json:"begun,omitempty" choir:"len=0..1000,id7" doc:"For the Associate: the tasks without an answer that a former process began."`
	Projects []string   `json:"projects,omitempty" choir:"len=0..1000,each=1..100" doc:"For the Director: the projects there were then, in the order in which they came."`
}

// ReadBoot reads the first line of a role's input. The error is a *choir.Error with the
// path of the invalid field, or io.EOF if the input is empty.
func ReadBoot(r *bufio.Reader) (Boot, error) {
	var b Boot
	line, err := readLine(r)
	if err != nil {
		return b, err
	}
	return b, choir.DecodeStrict(line, &b)
}

// ReadCredentials reads a later line of a role's input; io.EOF at its end.
func ReadCredentials(r *bufio.Reader) (Credentials, error) {
	var c Credentials
	line, err := readLine(r)
	if err != nil {
		return c, err
	}
	return c, choir.DecodeStrict(line, &c)
}

// readLine returns the next line without its end. The error is io.EOF at the end of input.
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
