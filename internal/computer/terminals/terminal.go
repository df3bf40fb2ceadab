package terminals

import (
	"io"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// Process is the program behind a terminal. *guest.Process implements it.
type Process interface {
	// Write sends input to the program. It may block while the program does not read.
	io.Writer
	Resize(guest.Size) error
	Signal(name string) error
	// Kill kills the program and all its descendants.
	Kill() error
	// Wait passes the output to stdout and stderr and returns the exit when the program
	// and its descendants have ended.
	Wait(stdout, stderr io.Writer) (guest.Exit, error)
	// Close closes the connection to the program, which makes Wait return.
	Close() error
}

// Info describes a terminal.
type Info struct {
	ID      choir.ID   `json:"terminal" doc:"The terminal."`
	Title   string     `json:"title" doc:"What its tab says."`
	Cwd     string     `json:"cwd" doc:"Folder it began in, below the workspace root."`
	Opened  choir.Time `json:"opened"`
	Size    guest.Size `json:"size" doc:"In characters."`
	Viewers int        `json:"viewers" doc:"Browsers that look on."`
	Agent   *Agent     `json:"agent,omitempty" doc:"The agent whose command it shows, to be looked at and ended; absent in a terminal of a person."`
}

// Agent identifies the work that a command of an agent belongs to. The id of its terminal is
// that of the tool call.
type Agent struct {
	Run     choir.ID `json:"run" doc:"The run."`
	Task    choir.ID `json:"task" doc:"The task."`
	Title   string   `json:"title" doc:"The beginning of what the task is to do."`
	Command string   `json:"command" doc:"The beginning of the command line."`
}

// End is how a terminal ended: the reason, and the exit code or the signal of its
// program.
type End struct {
	Reason choir.TerminalReason `json:"reason" doc:"exited, closed, rewind, undo, taken or lost."`
	Code   int                  `json:"code" doc:"Exit code of its shell; -1 when a signal ended it or nobody knows."`
	Signal string               `json:"signal,omitempty" doc:"Signal that ended its shell."`
}

// Terminal is one terminal of a Set. It is safe for concurrent use.
type Terminal struct {
	set     *Set
	info    Info // without what changes
	process Process
	input   *input
	done    chan struct{} // closed when it has ended and that is told
	ending  chan struct{} // closed when it is to end: nobody holds its output up any more
	sizing  sync.Mutex    // held while the program is told its size, so that the newest wins

	mu      sync.Mutex // guards what follows
	out     ring
	size    guest.Size
	views   []*View // in the order in which they came
	lead    *View
	changed chan struct{} // closed and replaced whenever something changes
	reason  choir.TerminalReason
	words   string // the last line of an ended terminal
	end     *End
}

func newTerminal(s *Set, info Info, p Process) *Terminal {
	return &Terminal{
		set: s, info: info, process: p, input: newInput(), done: make(chan struct{}), ending: make(chan struct{}),
		out: ring{keep: s.cfg.Keep}, size: info.Size, changed: make(chan struct{}),
	}
}

// Info returns the terminal's description with its current size and number of views.
func (t *Terminal) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.info
	info.Size, info.Viewers = t.size, len(t.views)
	return info
}

// run passes output and input until the program has ended, and then reports the end.
func (t *Terminal) run() {
	var typing sync.WaitGroup
	typing.Go(t.feed)
	exit, err := t.process.Wait(t, nil)
	t.process.Close()
	t.input.close()
	typing.Wait()
	t.finish(exit, err)
	t.set.ended(t)
	close(t.done)
}

// finish records the end of the terminal and writes its last line.
func (t *Terminal) finish(exit guest.Exit, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := End{Reason: t.reason, Code: exit.Code, Signal: exit.Signal}
	if err != nil {
		end.Code = -1
	}
	if end.Reason == "" && err != nil {
		end.Reason = choir.TerminalLost
	} else if end.Reason == "" {
		end.Reason = choir.TerminalExited
	}
	if t.words != "" {
		t.out.write([]byte("\x1b[0m\r\n[" + t.words + "]\r\n"))
	}
	t.end = &end
	t.notifyChanged()
}

// notifyChanged wakes every goroutine that waits for a change. The caller holds mu.
func (t *Terminal) notifyChanged() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Write adds output of the program and waits while a view is too far behind. It never
// fails.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.out.write(p)
	t.notifyChanged()
	t.mu.Unlock()
	t.set.cfg.Active()
	t.waitForViews()
	return len(p), nil
}

// waitForViews waits until no view is more than Config.Window bytes behind. It cuts off a
// view that makes no progress for Config.Patience.
func (t *Terminal) waitForViews() {
	timer := time.NewTimer(t.set.cfg.Patience)
	defer timer.Stop()
	for {
		t.mu.Lock()
		wait, behind := t.checkSlowViews(time.Now())
		changed := t.changed
		t.mu.Unlock()
		if !behind {
			return
		}
		timer.Reset(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-t.ending:
			return
		}
	}
}

// checkSlowViews cuts off the views whose patience has run out. behind reports whether
// others are too far behind, and wait how long until the next runs out. The caller holds
// mu.
func (t *Terminal) checkSlowViews(now time.Time) (wait time.Duration, behind bool) {
	for _, v := range slices.Clone(t.views) {
		left, slow := v.patience(now)
		switch {
		case slow && left <= 0:
			v.cutOff(choir.Refuse("terminal.view", choir.ReasonBrowserSlow))
		case slow && (!behind || left < wait):
			wait, behind = left, true
		}
	}
	return wait, behind
}

// feed writes the views' input to the program until the input is closed.
func (t *Terminal) feed() {
	for {
		p, v, ok := t.input.awaitInput()
		if !ok {
			return
		}
		// A program that has ended needs no input.
		t.process.Write(p)
		t.input.free(len(p))
		t.mu.Lock()
		if v.consumed += uint64(len(p)); v.consumed-v.reported >= takenStep {
			t.notifyChanged()
		}
		t.mu.Unlock()
	}
}

// Resize sets the size of the terminal. The leading view may change it later.
func (t *Terminal) Resize(size guest.Size) error {
	t.mu.Lock()
	same := t.size == size
	if t.size = size; !same {
		t.notifyChanged()
	}
	t.mu.Unlock()
	if same {
		return nil
	}
	return t.applySize()
}

// applySize tells the program the current size.
func (t *Terminal) applySize() error {
	t.sizing.Lock()
	defer t.sizing.Unlock()
	t.mu.Lock()
	size := t.size
	t.mu.Unlock()
	return t.process.Resize(size)
}

// hangupGrace is the time that a program has to end after a hangup, killGrace the time
// after a kill.
const (
	hangupGrace = 300 * time.Millisecond
	killGrace   = 5 * time.Second
)

// stop ends the terminal with all its processes and waits until it has ended: hangup
// first, then kill. words, if not empty, are the last line that it shows. A second call
// only waits.
func (t *Terminal) stop(reason choir.TerminalReason, words string) {
	t.mu.Lock()
	first := t.reason == ""
	if first {
		t.reason, t.words = reason, words
		close(t.ending)
	}
	t.mu.Unlock()
	if !first {
		<-t.done
		return
	}
	// Errors are those of a program that is gone already.
	t.process.Signal("SIGHUP")
	if t.endsWithin(hangupGrace) {
		return
	}
	t.process.Kill()
	if t.endsWithin(killGrace) {
		return
	}
	t.process.Close()
	<-t.done
}

// endsWithin waits for the end of the terminal, at most for d, and reports whether it has
// ended.
func (t *Terminal) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
		return true
	case <-timer.C:
		return false
	}
}
