package terminals

import (
	"io"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// Process is the program behind a terminal; *guest.Process is one.
type Process interface {
	// Write types. It may block while the program does not read.
	io.Writer
	Resize(guest.Size) error
	Signal(name string) error
	// Kill ends the program and everything that it started.
	Kill() error
	// Wait gives the output and returns when all of that has ended.
	Wait(stdout, stderr io.Writer) (guest.Exit, error)
	// Close breaks off; Wait returns.
	Close() error
}

// Info tells about a terminal.
type Info struct {
	ID      choir.ID   `json:"terminal" doc:"The terminal."`
	Title   string     `json:"title" doc:"What its tab says."`
	Cwd     string     `json:"cwd" doc:"Folder it began in, below the workspace root."`
	Opened  choir.Time `json:"opened"`
	Size    guest.Size `json:"size" doc:"In characters."`
	Viewers int        `json:"viewers" doc:"Browsers that look on."`
}

// End is how a terminal ended.
type End struct {
	Reason choir.TerminalReason `json:"reason" doc:"exited, closed, rewind, undo, taken or lost."`
	Code   int                  `json:"code" doc:"Exit code of its shell; -1 when a signal ended it or nobody knows."`
	Signal string               `json:"signal,omitempty" doc:"Signal that ended its shell."`
}

// Terminal is one of a Set. Its methods may be called at once.
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
	words   string // the last line of one that is ended
	end     *End
}

func newTerminal(s *Set, info Info, p Process) *Terminal {
	return &Terminal{
		set: s, info: info, process: p, input: newInput(), done: make(chan struct{}), ending: make(chan struct{}),
		out: ring{keep: s.cfg.Keep}, size: info.Size, changed: make(chan struct{}),
	}
}

// Info tells about it as it is now.
func (t *Terminal) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.info
	info.Size, info.Viewers = t.size, len(t.views)
	return info
}

// run follows the program to its end.
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

// finish notes the end, after the last words.
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
	t.tell()
}

// tell wakes everybody who waits for a change. The caller holds mu.
func (t *Terminal) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Write takes the program's output. It returns when no view is too far behind.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.out.write(p)
	t.tell()
	t.mu.Unlock()
	t.set.cfg.Active()
	t.holdUp()
	return len(p), nil
}

// holdUp waits for the views that are behind, and cuts off one that does not
// come nearer.
func (t *Terminal) holdUp() {
	timer := time.NewTimer(t.set.cfg.Patience)
	defer timer.Stop()
	for {
		t.mu.Lock()
		wait, behind := t.behind(time.Now())
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

// behind cuts off the views that are out of patience and says how long to wait
// for the others. The caller holds mu.
func (t *Terminal) behind(now time.Time) (wait time.Duration, behind bool) {
	for _, v := range slices.Clone(t.views) {
		left, slow := v.patience(now)
		switch {
		case slow && left <= 0:
			v.cutOff(choir.E("terminal.view", choir.CodeTimeout, "this browser did not keep up with the output").WithRemedy("come back with the offset you have"))
		case slow && (!behind || left < wait):
			wait, behind = left, true
		}
	}
	return wait, behind
}

// feed types what the views typed.
func (t *Terminal) feed() {
	for {
		p, v, ok := t.input.take()
		if !ok {
			return
		}
		// A program that has ended needs no input.
		t.process.Write(p)
		t.input.typed(len(p))
		t.mu.Lock()
		if v.taken += uint64(len(p)); v.taken-v.told >= takenStep {
			t.tell()
		}
		t.mu.Unlock()
	}
}

// Resize makes it as large as this, until the leading view says otherwise.
func (t *Terminal) Resize(size guest.Size) error {
	t.mu.Lock()
	same := t.size == size
	if t.size = size; !same {
		t.tell()
	}
	t.mu.Unlock()
	if same {
		return nil
	}
	return t.applySize()
}

// applySize tells the program the newest size.
func (t *Terminal) applySize() error {
	t.sizing.Lock()
	defer t.sizing.Unlock()
	t.mu.Lock()
	size := t.size
	t.mu.Unlock()
	return t.process.Resize(size)
}

// How long a program may take to end after a hangup, and after it was killed.
const (
	hangupGrace = 300 * time.Millisecond
	killGrace   = 5 * time.Second
)

// stop ends it with everything that was started in it, and returns when that is
// done. The words, when there are any, are the last line that it shows.
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
	if t.within(hangupGrace) {
		return
	}
	t.process.Kill()
	if t.within(killGrace) {
		return
	}
	t.process.Close()
	<-t.done
}

// within waits for the end.
func (t *Terminal) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
		return true
	case <-timer.C:
		return false
	}
}
