package guest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
)

// execution is one running command, on the server's side.
type execution struct {
	w       *wire
	program Program
	files   *streams
	input   *inbox

	taken  atomic.Int64  // input that the command took and the client does not know of
	credit chan struct{} // holds a token when there is some; closed by feed
}

func (s *Server) exec(ctx context.Context, w *wire, r *request) (any, error) {
	if r.Exec == nil {
		return nil, choir.Invalid("request.exec", "is required")
	}
	e, err := s.startCommand(w, r.Exec)
	if err != nil {
		return nil, choir.Under("exec", err)
	}
	if r.Exec.TTY != nil {
		defer s.terminals.add(e.files.terminal, r.Exec.Argv[0])()
	}
	// An error shows as a client that is gone, which run notices.
	w.writeJSON(frameControl, control{Started: e.program.PID()})
	return nil, e.run(ctx, time.Duration(r.Exec.TimeoutMS)*time.Millisecond)
}

func (s *Server) startCommand(w *wire, spec *ExecSpec) (*execution, error) {
	if spec.Session && len(s.cfg.Session) == 0 {
		return nil, choir.E("guest.exec", choir.CodeUnavailable, "this init cannot run sessions")
	}
	files, err := openStreams(spec)
	if err != nil {
		return nil, err
	}
	start := Start{Argv: spec.Argv, Dir: s.workingFolder(spec.Cwd), Env: mergeEnv(s.cfg.Env, spec.Env), Files: files.child, Terminal: spec.TTY != nil}
	if spec.Session {
		start.Session = s.cfg.Session
	}
	program, err := s.cfg.Programs.Start(start)
	files.closeChild()
	if err != nil {
		files.close()
		return nil, err
	}
	return &execution{w: w, program: program, files: files, input: newInbox(), credit: make(chan struct{}, 1)}, nil
}

// run serves the command until it ends, exceeds its timeout, the client disconnects or
// the server stops. It then sends the exit, or an error, and closes the connection.
func (e *execution) run(ctx context.Context, timeout time.Duration) error {
	gone := make(chan error, 3) // whoever notices first that the client is no use any more
	var inputs, outputs sync.WaitGroup
	inputs.Go(func() { gone <- e.readClient() })
	inputs.Go(e.feed)
	inputs.Go(e.sendCredit)
	for _, out := range e.files.outputs {
		outputs.Go(func() {
			if err := e.pump(out); err != nil {
				gone <- err
			}
		})
	}
	end, timedOut, err := e.await(ctx, timeout, gone)
	e.files.commandEnded()
	outputs.Wait()
	if err == nil {
		x := end.exit()
		x.TimedOut = timedOut
		// A client that has gone does not need the answer.
		_ = e.w.writeJSON(frameReply, &x)
	} else {
		e.w.writeError(err)
	}
	e.w.conn.Close() // ends readClient
	e.files.close()  // ends feed
	inputs.Wait()
	return nil
}

// await waits until the command has ended and returns its end. It kills the command at
// the timeout and when gone reports an error, and ends it with SIGTERM first when ctx
// ends.
func (e *execution) await(ctx context.Context, timeout time.Duration, gone <-chan error) (end Ended, timedOut bool, err error) {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case end = <-e.program.Ended():
		return end, false, nil
	case <-late:
		timedOut = true
	case <-ctx.Done():
		return endGently(e.program), false, choir.E("guest.exec", choir.CodeUnavailable, "the sandbox is ending")
	case err = <-gone:
	}
	e.program.Kill()
	return <-e.program.Ended(), timedOut, err
}

// pump sends one output stream to the client until it ends. It returns only errors of the
// connection.
func (e *execution) pump(out *output) error {
	buf := make([]byte, dataChunk)
	for {
		n, readErr := out.read(buf)
		if n > 0 {
			if err := e.w.write(out.frame, buf[:n]); err != nil {
				return err
			}
		}
		if readErr != nil {
			return nil // the end, or silence after the command's end
		}
	}
}

// readClient reads input and control frames until the client closes the connection or
// sends an invalid frame, and returns the error.
func (e *execution) readClient() error {
	defer e.input.close()
	for {
		t, payload, err := e.w.read()
		if err != nil {
			return err
		}
		switch t {
		case frameData:
			err = e.input.put(payload)
		case frameEnd:
			e.input.close()
		case frameControl:
			err = e.control(payload)
		default:
			err = unexpected(t, payload)
		}
		if err != nil {
			return err
		}
	}
}

func (e *execution) control(payload []byte) error {
	var c control
	if err := choir.DecodeStrict(payload, &c); err != nil {
		return choir.Under("control", err)
	}
	if c.Resize != nil {
		return e.files.resize(*c.Resize)
	}
	if c.Kill {
		e.program.Kill()
		return nil
	}
	sig, err := parseSignal(c.Signal)
	if err != nil {
		return err
	}
	return e.program.Signal(sig)
}

// feed writes the client's input to the command until it ends. Input for a command that
// does not read any more is discarded.
func (e *execution) feed() {
	defer close(e.credit)
	for {
		chunk, ok := e.input.awaitInput()
		if !ok {
			e.files.endInput()
			return
		}
		e.files.writeInput(chunk)
		e.input.free(len(chunk))
		e.taken.Add(int64(len(chunk)))
		select {
		case e.credit <- struct{}{}:
		default:
		}
	}
}

// sendCredit tells the client how much input was consumed. It is a goroutine of its own,
// because a client that does not read its output must still be able to send input.
func (e *execution) sendCredit() {
	for range e.credit {
		e.w.writeCredit(int(e.taken.Swap(0))) // a client that is gone is readClient's finding
	}
}
