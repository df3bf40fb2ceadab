package guest

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/creack/pty"

	"choiros/internal/choir"
)

// lateOutput is the time that output may be silent after the command has ended while a
// background process holds the pipe open.
const lateOutput = 200 * time.Millisecond

// output is one output stream of a command.
type output struct {
	file  *os.File
	frame frameType
	ended atomic.Bool // the command has; then silence is the end
}

func (o *output) read(buf []byte) (int, error) {
	if o.ended.Load() {
		o.file.SetReadDeadline(time.Now().Add(lateOutput))
	}
	return o.file.Read(buf)
}

// streams are the standard streams of a command: pipes, or one terminal.
type streams struct {
	child    []*os.File // its ends: 0, 1, 2
	input    *os.File   // our end; nil when the command has no input
	outputs  []*output
	terminal *os.File
}

func openStreams(spec *ExecSpec) (*streams, error) {
	s := &streams{}
	var err error
	if spec.TTY != nil {
		err = s.openTerminal(*spec.TTY)
	} else {
		err = s.openPipes(spec.Stdin)
	}
	if err != nil {
		s.closeChild()
		s.close()
		return nil, pathError("open streams", "", err)
	}
	return s, nil
}

func (s *streams) openTerminal(size Size) error {
	master, slave, err := pty.Open()
	if err != nil {
		return err
	}
	s.terminal, s.input = master, master
	s.child = []*os.File{slave, slave, slave}
	s.outputs = []*output{{file: master, frame: frameData}}
	return s.resize(size)
}

func (s *streams) openPipes(stdin bool) error {
	in, err := s.openInput(stdin)
	if err != nil {
		return err
	}
	s.child = append(s.child, in)
	for _, t := range []frameType{frameData, frameStderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.child = append(s.child, w)
		s.outputs = append(s.outputs, &output{file: r, frame: t})
	}
	return nil
}

func (s *streams) openInput(stdin bool) (*os.File, error) {
	if !stdin {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	s.input = w
	return r, err
}

func (s *streams) closeChild() {
	for _, f := range s.child {
		f.Close() // a terminal is there three times; closing again does nothing
	}
}

func (s *streams) close() {
	if s.input != nil {
		s.input.Close()
	}
	for _, o := range s.outputs {
		o.file.Close()
	}
}

// commandEnded makes readers of the output stop at the first silence of lateOutput.
func (s *streams) commandEnded() {
	for _, o := range s.outputs {
		o.ended.Store(true)
		o.file.SetReadDeadline(time.Now().Add(lateOutput))
	}
}

// writeInput writes to the command's standard input. It ignores the error of a command
// that does not read any more.
func (s *streams) writeInput(b []byte) {
	if s.input != nil {
		s.input.Write(b)
	}
}

// endInput closes the input pipe, or types ^D on a terminal.
func (s *streams) endInput() {
	switch {
	case s.terminal != nil:
		s.terminal.Write([]byte{4})
	case s.input != nil:
		s.input.Close()
	}
}

func (s *streams) resize(size Size) error {
	if s.terminal == nil {
		return choir.Invalid("resize", "this command has no terminal")
	}
	return pty.Setsize(s.terminal, &pty.Winsize{Rows: size.Rows, Cols: size.Cols})
}
