package terminals

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// View is one browser's view of a terminal. Only one goroutine may call Next; the other
// methods are safe for concurrent use.
type View struct {
	t    *Terminal
	buf  []byte // of the last update
	head uint64

	// What follows is guarded by the terminal's mu.
	at       uint64 // offset of the next byte to be sent
	acked    uint64 // offset up to which it has shown the output
	size     guest.Size
	consumed uint64 // bytes it typed that the program took
	reported uint64 // of these it knows
	last     Status // of these too
	since    time.Time
	mark     uint64 // where it was then, when it holds the output up
	cutErr   error
	ended    bool // it knows of the end
}

// Status is the state of a view apart from the output.
type Status struct {
	Size    guest.Size `json:"size"`
	Lead    bool       `json:"lead" doc:"This browser was used last: its size counts, and it answers what programs ask of a terminal."`
	Viewers int        `json:"viewers" doc:"Browsers that look on."`
}

// Update is the next change for a view. Fields that are zero have no news.
type Update struct {
	Data   []byte // output; valid until the next update
	From   uint64 // its offset
	Lost   uint64 // bytes before it that are not kept any more
	Status *Status
	Taken  uint64 // bytes that this view typed and the program took; 0 for no news
	End    *End   // the last update of all
}

// chunk is the maximal number of bytes of output in one update.
const chunk = 32 << 10

// attach adds a view that has the output up to offset after. An offset beyond the end
// means that the output is of an earlier terminal; the view then gets everything.
func (t *Terminal) attach(after uint64) *View {
	t.mu.Lock()
	defer t.mu.Unlock()
	if after > t.out.end {
		after = 0
	}
	v := &View{t: t, at: after, acked: after, head: t.out.end, buf: make([]byte, chunk)}
	t.views = append(t.views, v)
	if t.lead == nil {
		t.lead = v
	}
	t.notifyChanged()
	return v
}

// Head returns the offset of the end of the output when the view was attached. Earlier
// output was already shown, and the program's queries in it were answered.
func (v *View) Head() uint64 { return v.head }

// Close removes the view from the terminal, which goes on.
func (v *View) Close() {
	v.t.mu.Lock()
	resized := v.remove()
	v.t.mu.Unlock()
	if resized {
		v.t.applySize()
	}
}

// remove removes the view from its terminal. If it led, the newest other view becomes the
// leader; resized reports whether the size changed, which the caller applies. The caller
// holds mu.
func (v *View) remove() (resized bool) {
	t := v.t
	at := slices.Index(t.views, v)
	if at < 0 {
		return false
	}
	t.views = slices.Delete(t.views, at, at+1)
	if t.lead == v {
		t.lead = nil
		if n := len(t.views); n > 0 {
			resized = t.views[n-1].becomeLeader()
		}
	}
	t.notifyChanged()
	return resized
}

// becomeLeader makes the view the leader. It reports whether the size changed, which
// the caller applies. The caller holds mu.
func (v *View) becomeLeader() (resized bool) {
	t := v.t
	if t.lead == v || !slices.Contains(t.views, v) {
		return false
	}
	t.lead = v
	resized = v.size != guest.Size{} && v.size != t.size
	if resized {
		t.size = v.size
	}
	t.notifyChanged()
	return resized
}

// Use makes the view the leader, whose size the terminal has.
func (v *View) Use() error {
	v.t.mu.Lock()
	resized := v.becomeLeader()
	v.t.mu.Unlock()
	if resized {
		return v.t.applySize()
	}
	return nil
}

// Resize sets the size that the browser has room for. The terminal has it while the view
// leads.
func (v *View) Resize(size guest.Size) error {
	t := v.t
	t.mu.Lock()
	v.size = size
	leads := t.lead == v
	t.mu.Unlock()
	if leads {
		return t.Resize(size)
	}
	return nil
}

// Type queues input for the program and makes the view the leader. It keeps the slice. If
// the program does not consume its input the error is code too_large.
func (v *View) Type(p []byte) error {
	if err := v.Use(); err != nil {
		return err
	}
	v.t.set.cfg.Active()
	return v.t.input.put(p, v)
}

// Ack records that the browser has shown the output up to an offset.
func (v *View) Ack(offset uint64) {
	t := v.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if offset <= v.acked || offset > v.at {
		return
	}
	v.acked = offset
	t.notifyChanged()
}

// patience returns how much longer the view may delay the output; slow is false for a
// view that is not too far behind. The caller holds mu.
func (v *View) patience(now time.Time) (left time.Duration, slow bool) {
	window := uint64(v.t.set.cfg.Window)
	if v.t.out.end-v.acked <= window {
		v.since = time.Time{}
		return 0, false
	}
	// Coming nearer by a crumb now and then is not catching up.
	if v.since.IsZero() || v.acked >= v.mark+window/2 {
		v.since, v.mark = now, v.acked
	}
	return v.t.set.cfg.Patience - now.Sub(v.since), true
}

// cutOff removes the view and makes Next return why. The caller holds mu.
func (v *View) cutOff(why error) {
	v.cutErr = why
	if v.remove() {
		go v.t.applySize() // ends at once: it writes to a local socket
	}
}

// Next waits for a change and returns it. An error is that of the context, or the reason
// why the view was cut off. The update with End is the last; do not call Next after it.
func (v *View) Next(ctx context.Context) (Update, error) {
	for {
		v.t.mu.Lock()
		u, ok := v.update()
		changed, cut := v.t.changed, v.cutErr
		v.t.mu.Unlock()
		switch {
		case cut != nil:
			return Update{}, cut
		case ok:
			return u, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Update{}, choir.Wrap("terminal.view", "", ctx.Err(), "ended")
		}
	}
}

// update returns the next change for the view; ok is false if there is none. The caller
// holds mu.
func (v *View) update() (u Update, ok bool) {
	t := v.t
	if now := (Status{Size: t.size, Lead: t.lead == v, Viewers: len(t.views)}); now != v.last {
		v.last = now
		u.Status, ok = &now, true
	}
	if v.consumed > v.reported && (v.consumed-v.reported >= takenStep || ok) {
		v.reported = v.consumed
		u.Taken, ok = v.consumed, true
	}
	if v.at < t.out.end && (v.at-v.acked < uint64(t.set.cfg.Window) || t.end != nil) {
		from, n := t.out.read(v.buf, v.at)
		u.Data, u.From, u.Lost, ok = v.buf[:n], from, from-v.at, true
		v.at = from + uint64(n)
		v.acked = max(v.acked, from) // it cannot show what is lost
	}
	if t.end != nil && v.at == t.out.end && !v.ended {
		v.ended = true
		u.End, ok = t.end, true
	}
	return u, ok
}
