package taskrunner

import (
	"sync"
	"time"

	"choiros/internal/choir"
)

const (
	// keptBytes bounds what is kept of one stream: half of it from the
	// beginning, half from the end.
	keptBytes = 8 << 20
	tailChars = 500
	// liveEvery bounds how often live text is sent, liveBytes how much at once.
	liveEvery = 40 * time.Millisecond
	liveBytes = 16 << 10
)

// recorder is a sink that keeps a command's output and shows it while it comes.
type recorder struct {
	live *live
	head []byte
	tail []byte // the last bytes beyond head
	lost int64  // bytes between the two
}

func (r *recorder) Write(p []byte) (int, error) {
	n := len(p)
	r.live.show(p)
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
func (r *recorder) Idle() { r.live.flush() }

// whole is the output as it is kept.
func (r *recorder) whole() []byte {
	tail, lost := r.tail, r.lost
	if over := len(tail) - keptBytes/2; over > 0 {
		tail, lost = tail[over:], lost+int64(over)
	}
	if lost == 0 {
		return append(r.head[:len(r.head):len(r.head)], tail...)
	}
	out := append(r.head[:len(r.head):len(r.head)], []byte("\n[... "+itoa(lost)+" bytes left out ...]\n")...)
	return append(out, tail...)
}

// live sends text to whoever watches: the first at once, more in pieces.
type live struct {
	send func(text string)
	now  func() time.Time

	mu      sync.Mutex // guards pending and sent
	pending []byte
	sent    time.Time
}

func newLive(send func(text string)) *live { return &live{now: time.Now, send: send} }

// newLive shows text of the task's run.
func (j *job) newLive() *live {
	return newLive(func(text string) { j.cfg.Live(j.event.Run, text) })
}

func (l *live) show(p []byte) {
	l.mu.Lock()
	l.pending = append(l.pending, p...)
	if over := len(l.pending) - liveBytes; over > 0 {
		l.pending = append(l.pending[:0], l.pending[over:]...) // who watches sees the end
	}
	due := l.now().Sub(l.sent) >= liveEvery
	l.mu.Unlock()
	if due {
		l.flush()
	}
}

func (l *live) flush() {
	l.mu.Lock()
	text := toUTF8(l.pending)
	l.pending = l.pending[:0]
	l.sent = l.now()
	l.mu.Unlock()
	if text != "" {
		l.send(text)
	}
}

// lastChars is the end of an output.
func lastChars(b []byte) string {
	if len(b) > 4*tailChars {
		b = b[len(b)-4*tailChars:]
	}
	r := []rune(toUTF8(b))
	return string(r[max(0, len(r)-tailChars):])
}

// kept stores an output; nothing is stored of nothing.
func (j *job) kept(content []byte) (choir.Digest, error) {
	if len(content) == 0 {
		return "", nil
	}
	return j.cfg.Blobs.PutBlob(j.life, content)
}
