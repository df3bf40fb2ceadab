package guest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
)

// execution is one running command.
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

// run lets the command live until it ends, its time is over, the client is gone
// or the server stops, and answers how it ended.
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

// await returns when the command has ended, killed if need be.
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

// pump sends one output as it comes; the error is the client's.
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

// readClient takes input and control until the client closes or breaks a rule.
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

// feed writes input to the command. A command that does not read its input any
// more has it taken all the same.
func (e *execution) feed() {
	defer close(e.credit)
	for {
		chunk, ok := e.input.take()
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

// sendCredit tells the client how much input was taken: beside feed, because a
// client that holds output up must not hold up what is typed to end it.
func (e *execution) sendCredit() {
	for range e.credit {
		e.w.writeCredit(int(e.taken.Swap(0))) // a client that is gone is readClient's finding
	}
}
