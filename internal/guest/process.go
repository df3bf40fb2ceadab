package guest

import (
	"context"
	"encoding/binary"
	"io"
	"sync"

	"choiros/internal/choir"
)

// Exec starts a command and returns it running. When ctx ends or the connection breaks,
// init kills the command with its descendants. The caller must call Wait or Close.
func (c *Client) Exec(ctx context.Context, spec ExecSpec) (*Process, error) {
	s, err := c.open(ctx, &request{Op: opExec, Exec: &spec})
	if err != nil {
		return nil, err
	}
	started, err := s.control(opExec)
	if err != nil {
		s.close()
		return nil, err
	}
	p := &Process{session: s, pid: started.Started, window: stdinWindow}
	p.granted = sync.NewCond(&p.mu)
	return p, nil
}

// Process is a running command. It is safe for concurrent use; Wait may be called once.
type Process struct {
	session *session
	pid     int

	mu      sync.Mutex // guards window and ended
	granted *sync.Cond
	window  int   // bytes of input that may be sent
	ended   error // why no more input can be sent
}

// PID returns the process id inside the sandbox.
func (p *Process) PID() int { return p.pid }

// Write sends b to the standard input (ExecSpec.Stdin or TTY). It blocks while 256 KiB
// are not consumed by the command; Wait must run meanwhile, because it receives the
// reports of consumption.
func (p *Process) Write(b []byte) (int, error) {
	sent := 0
	for sent < len(b) {
		n, err := p.reserve(min(len(b)-sent, dataChunk))
		if err != nil {
			return sent, err
		}
		if err := p.session.write(frameData, b[sent:sent+n]); err != nil {
			return sent, p.session.fail(opExec, err)
		}
		sent += n
	}
	return sent, nil
}

// reserve waits until the window has room and takes up to n bytes of it; it returns their
// number.
func (p *Process) reserve(n int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.window == 0 && p.ended == nil {
		p.granted.Wait()
	}
	if p.ended != nil {
		return 0, p.ended
	}
	n = min(n, p.window)
	p.window -= n
	return n, nil
}

func (p *Process) grant(payload []byte) error {
	if len(payload) != 4 {
		return choir.Invalid("credit", "must have 4 bytes, not %d", len(payload))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.window = min(stdinWindow, p.window+int(binary.BigEndian.Uint32(payload)))
	p.granted.Broadcast()
	return nil
}

// CloseStdin ends the standard input; on a terminal it sends ^D.
func (p *Process) CloseStdin() error { return p.session.write(frameEnd, nil) }

// Signal sends a signal, such as "SIGINT", to the command's process group. An unknown
// name is code invalid.
func (p *Process) Signal(name string) error {
	if _, err := parseSignal(name); err != nil {
		return err
	}
	return p.session.writeJSON(frameControl, control{Signal: name})
}

// Kill asks init to kill the command and its descendants, and does not wait. Wait returns
// once they are gone; Close does not wait for that.
func (p *Process) Kill() error { return p.session.writeJSON(frameControl, control{Kill: true}) }

// Resize sets the size of the terminal.
func (p *Process) Resize(size Size) error {
	return p.session.writeJSON(frameControl, control{Resize: &size})
}

// Wait writes the output to stdout and stderr (nil discards) and returns the exit after
// the command has ended and its output was read. A slow writer delays the command; an
// error of a writer kills it and is returned. Background processes of the command go on,
// without their output.
func (p *Process) Wait(stdout, stderr io.Writer) (Exit, error) {
	exit, err := p.follow(stdout, stderr)
	p.end(err)
	p.session.close()
	return exit, err
}

func (p *Process) follow(stdout, stderr io.Writer) (x Exit, err error) {
	for {
		t, payload, err := p.session.read()
		if err != nil {
			return x, p.session.fail(opExec, err)
		}
		switch t {
		case frameData:
			err = writeOut(stdout, payload)
		case frameStderr:
			err = writeOut(stderr, payload)
		case frameCredit:
			err = p.grant(payload)
		default:
			return x, p.session.decode(opExec, t, payload, &x)
		}
		if err != nil {
			return x, err
		}
	}
}

func writeOut(w io.Writer, b []byte) error {
	if w == nil {
		return nil
	}
	_, err := w.Write(b)
	return err
}

// end makes further writes fail with err; nil means that the command has ended.
func (p *Process) end(err error) {
	if err == nil {
		err = choir.E("guest.exec", choir.CodeNotFound, "the command has ended")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = err
	p.granted.Broadcast()
}

// Close kills the command if it still runs, and closes the connection.
func (p *Process) Close() error {
	p.end(nil)
	p.session.close()
	return nil
}
