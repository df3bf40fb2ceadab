package terminals

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// View is one browser that looks at a terminal. Next is for one goroutine, the
// other methods for any.
type View struct {
	t    *Terminal
	buf  []byte // of the last update
	head uint64

	// What follows is guarded by the terminal's mu.
	at    uint64 // offset of the next byte to be sent
	acked uint64 // offset up to which it has shown the output
	size  guest.Size
	taken uint64 // bytes it typed that the program took
	told  uint64 // of these it knows
	last  Status // of these too
	since time.Time
	mark  uint64 // where it was then, when it holds the output up
	cut   error
	ended bool // it knows of the end
}

// Status is what a view shows besides the output.
type Status struct {
	Size    guest.Size `json:"size"`
	Lead    bool       `json:"lead" doc:"This browser was used last: its size counts, and it answers what programs ask of a terminal."`
	Viewers int        `json:"viewers" doc:"Browsers that look on."`
}

// Update is what a view is to show next.
type Update struct {
	Data   []byte // output; valid until the next update
	From   uint64 // its offset
	Lost   uint64 // bytes before it that are not kept any more
	Status *Status
	Taken  uint64 // bytes that this view typed and the program took; 0 for no news
	End    *End   // the last update of all
}

// chunk is how much output one update has at most.
const chunk = 32 << 10

// attach adds a view that has the output up to an offset. One that is from the
// future, of a terminal long gone, gets everything.
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
	t.tell()
	return v
}

// Head is how far the output was when the view came: what is before it was shown
// before, and what programs asked in it was answered.
func (v *View) Head() uint64 { return v.head }

// Close ends the view. The terminal goes on.
func (v *View) Close() {
	v.t.mu.Lock()
	resized := v.leave()
	v.t.mu.Unlock()
	if resized {
		v.t.applySize()
	}
}

// leave takes the view out of its terminal, and lets the newest of the others
// lead. The caller holds mu and applies the size when it changed.
func (v *View) leave() (resized bool) {
	t := v.t
	at := slices.Index(t.views, v)
	if at < 0 {
		return false
	}
	t.views = slices.Delete(t.views, at, at+1)
	if t.lead == v {
		t.lead = nil
		if n := len(t.views); n > 0 {
			resized = t.views[n-1].take()
		}
	}
	t.tell()
	return resized
}

// take makes the view the leader. The caller holds mu and applies the size when
// it changed.
func (v *View) take() (resized bool) {
	t := v.t
	if t.lead == v || !slices.Contains(t.views, v) {
		return false
	}
	t.lead = v
	resized = v.size != guest.Size{} && v.size != t.size
	if resized {
		t.size = v.size
	}
	t.tell()
	return resized
}

// Use makes the view the leader: somebody turned to it.
func (v *View) Use() error {
	v.t.mu.Lock()
	resized := v.take()
	v.t.mu.Unlock()
	if resized {
		return v.t.applySize()
	}
	return nil
}

// Resize says how much room the browser has. It counts while the view leads.
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

// Type gives input to the program, and makes the view the leader. It keeps the
// slice. Code too_large when the program does not take it.
func (v *View) Type(p []byte) error {
	if err := v.Use(); err != nil {
		return err
	}
	v.t.set.cfg.Active()
	return v.t.input.put(p, v)
}

// Ack says up to which offset the browser has shown the output.
func (v *View) Ack(offset uint64) {
	t := v.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if offset <= v.acked || offset > v.at {
		return
	}
	v.acked = offset
	t.tell()
}

// patience is for how long the view may still hold the output up; slow is false
// for one that does not. The caller holds mu.
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

// cutOff ends the view for a reason that Next returns. The caller holds mu.
func (v *View) cutOff(why error) {
	v.cut = why
	if v.leave() {
		go v.t.applySize() // ends at once: it writes to a local socket
	}
}

// Next waits for something to show. The error is that of the context, or why the
// view was cut off. After the update with End there is none.
func (v *View) Next(ctx context.Context) (Update, error) {
	for {
		v.t.mu.Lock()
		u, ok := v.update()
		changed, cut := v.t.changed, v.cut
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

// update is what the view does not know yet. The caller holds mu.
func (v *View) update() (u Update, ok bool) {
	t := v.t
	if now := (Status{Size: t.size, Lead: t.lead == v, Viewers: len(t.views)}); now != v.last {
		v.last = now
		u.Status, ok = &now, true
	}
	if v.taken > v.told && (v.taken-v.told >= takenStep || ok) {
		v.told = v.taken
		u.Taken, ok = v.taken, true
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
