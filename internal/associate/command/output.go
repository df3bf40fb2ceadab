package command

import (
	"strconv"
	"sync"
	"time"

	"choiros/internal/associate/tools"
	"choiros/internal/excerpt"
)

const (
	// keptBytes limits what is kept of one output stream: half from its beginning, half from its end.
	keptBytes = 8 << 20
	tailChars = 500
	// liveEvery is the least time between two live texts, liveBytes their largest size.
	liveEvery = 40 * time.Millisecond
	liveBytes = 16 << 10
)

// recorder is a proctree.Sink that keeps a command's output, bounded, and shows it live.
type recorder struct {
	live *Live
	also *recorder // records the same bytes, beside those of another output; nil for none

	mu    sync.Mutex // guards all below
	head  []byte
	tail  []byte        // the last bytes beyond head
	lost  int64         // number of dropped bytes between head and tail
	fresh []byte        // the last bytes since sinceLast
	all   int64         // number of bytes of the whole output
	more  chan struct{} // closed with the next output; nil if nobody waits for it
}

func (r *recorder) Write(p []byte) (int, error) {
	n := len(p)
	if r.also != nil {
		_, _ = r.also.Write(p) // it takes everything, and shows it live
	} else {
		r.live.Show(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all += int64(n)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	if r.fresh = append(r.fresh, p...); len(r.fresh) > 4*tools.MaxShown {
		r.fresh = append(r.fresh[:0], r.fresh[len(r.fresh)-2*tools.MaxShown:]...)
	}
	if room := keptBytes/2 - len(r.head); room > 0 {
		r.head = append(r.head, p[:min(room, len(p))]...)
		p = p[min(room, len(p)):]
	}
	r.tail = append(r.tail, p...)
	if over := len(r.tail) - keptBytes; over > 0 {
		// Cut at twice what is kept, so that copying stays cheap.
		over = len(r.tail) - keptBytes/2
		r.tail = append(r.tail[:0], r.tail[over:]...)
		r.lost += int64(over)
	}
	return n, nil
}

// Idle implements proctree.Sink.
func (r *recorder) Idle() { r.live.Flush() }

// sinceLast returns the end of what came since it was called last.
func (r *recorder) sinceLast() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = nil
	return fresh
}

// total returns the number of bytes of the whole output so far.
func (r *recorder) total() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// part returns a copy of at most limit bytes of the kept output from offset at on, or from the
// first kept byte after it, with their offset and the size of the whole output. more is closed
// when there is further output.
func (r *recorder) part(at int64, limit int) (from int64, chunk []byte, total int64, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(chan struct{})
	}
	from = min(at, r.all)
	kept, begin := r.head, int64(0)
	if from >= int64(len(r.head)) {
		kept, begin = r.tail, int64(len(r.head))+r.lost
		from = max(from, begin)
	}
	kept = kept[from-begin:]
	chunk = append([]byte{}, kept[:min(limit, len(kept))]...)
	return from, chunk, r.all, r.more
}

// whole returns the kept output, with a note in place of dropped bytes.
func (r *recorder) whole() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	tail, lost := r.tail, r.lost
	if over := len(tail) - keptBytes/2; over > 0 {
		tail, lost = tail[over:], lost+int64(over)
	}
	if lost == 0 {
		return append(r.head[:len(r.head):len(r.head)], tail...)
	}
	out := append(r.head[:len(r.head):len(r.head)], []byte("\n[... "+strconv.FormatInt(lost, 10)+" bytes left out ...]\n")...)
	return append(out, tail...)
}

// Live sends text to the watchers of a run, at most once per liveEvery: the first text at
// once, later text gathered.
type Live struct {
	send func(text string)
	now  func() time.Time

	mu      sync.Mutex // guards pending and sent
	pending []byte
	sent    time.Time
}

// NewLive returns a Live that calls send.
func NewLive(send func(text string)) *Live { return &Live{now: time.Now, send: send} }

// Show adds text, and sends it unless text was sent less than liveEvery ago.
func (l *Live) Show(p []byte) {
	l.mu.Lock()
	l.pending = append(l.pending, p...)
	if over := len(l.pending) - liveBytes; over > 0 {
		l.pending = append(l.pending[:0], l.pending[over:]...) // who watches sees the end
	}
	due := l.now().Sub(l.sent) >= liveEvery
	l.mu.Unlock()
	if due {
		l.Flush()
	}
}

// Flush sends the gathered text.
func (l *Live) Flush() {
	l.mu.Lock()
	text := excerpt.Text(l.pending)
	l.pending = l.pending[:0]
	l.sent = l.now()
	l.mu.Unlock()
	if text != "" {
		l.send(text)
	}
}

// Tail returns the last tailChars characters of an output.
func Tail(b []byte) string {
	if len(b) > 4*tailChars {
		b = b[len(b)-4*tailChars:]
	}
	r := []rune(excerpt.Text(b))
	return string(r[max(0, len(r)-tailChars):])
}

// filtered is a recorder of other text than what it is given.
type filtered struct {
	*recorder
	text func(p []byte) []byte
}

func (f filtered) Write(p []byte) (int, error) {
	_, err := f.recorder.Write(f.text(p))
	return len(p), err
}
