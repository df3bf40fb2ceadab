package desktop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

const (
	// startPatience is how long a development server may take to listen.
	startPatience = 20 * time.Second
	// notePatience is the time limit for recording a failure in the log.
	notePatience = 5 * time.Second
	// maxLine limits a line of the server's output, maxTail the kept part of its errors.
	maxLine = 64 << 10
	maxTail = 2 << 10
	// sourceInside is the folder of the source inside the sandbox.
	sourceInside = "/workspace/choiros"
)

// outputLine is one line of the development server's output. It comes from inside a sandbox and is
// not trusted.
type outputLine struct {
	Port    int    `json:"port"`
	Error   string `json:"error"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Changed bool   `json:"changed"`
}

// server is a development server that runs in the sandbox.
type server struct {
	port    int
	cancel  context.CancelFunc
	done    chan struct{}
	ready   chan int // receives its port once
	report  func(choir.DesktopBroke)
	trouble atomic.Pointer[outputLine]
	last    atomic.Int64 // when it was last used, in Unix seconds
	open    atomic.Int64 // number of open connections
	tail    tail
}

// start starts the development server and waits until it listens. Code unavailable: it does
// not start.
func (h *Host) start(ctx context.Context) (*server, error) {
	if err := h.cfg.Modules.Unpack(ctx); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	p, err := h.sandbox.Exec(run, guest.ExecSpec{
		Argv: []string{"node", modulesInside + "/.choir/dev.mjs", "serve", sourceInside, modulesInside}, Cwd: sourceInside,
	})
	if err != nil {
		cancel()
		return nil, notStarted(err)
	}
	s := &server{cancel: cancel, done: make(chan struct{}), ready: make(chan int, 1)}
	s.report = func(p choir.DesktopBroke) { h.note(run, p) }
	s.used(h.cfg.Now())
	go s.run(p)
	go s.watch(h.cfg.Idle, h.cfg.Now)
	late := time.NewTimer(startPatience)
	defer late.Stop()
	select {
	case s.port = <-s.ready:
		return s, nil
	case <-s.done:
		err = choir.Refuse("desktop.start", choir.ReasonDesktopServerEnded, choir.TextOf("said", s.tail.String()))
	case <-late.C:
		err = choir.Refuse("desktop.start", choir.ReasonDesktopServerSlow, choir.SecondsOf("span", startPatience))
	case <-ctx.Done():
		err = choir.Wrap("desktop.start", choir.CodeCancelled, ctx.Err(), "wait for the development server")
	}
	s.stop()
	return nil, err
}

// note records a failure of the source in the log. It ignores errors, such as too many
// records, because Status and the page show the failure too.
func (h *Host) note(ctx context.Context, p choir.DesktopBroke) {
	ctx, cancel := context.WithTimeout(ctx, notePatience)
	defer cancel()
	_ = h.source.NoteBroke(ctx, p)
}

// notStarted returns the error for a server that could not be started; if Node.js is missing,
// with the remedy to install it.
func notStarted(err error) error {
	if code := choir.CodeOf(err); code != choir.CodeNotFound && code != choir.CodeInvalid {
		return choir.Wrap("desktop.start", choir.CodeUnavailable, err, "start the development server of the desktop")
	}
	return choir.Refuse("desktop.start", choir.ReasonDesktopNoNode)
}

// run reads the server's output until the server has ended.
func (s *server) run(p *guest.Process) {
	defer close(s.done)
	defer s.cancel()
	r, w := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() { s.read(r) })
	// However it ended, it is gone.
	_, _ = p.Wait(w, &s.tail)
	w.Close()
	reading.Wait()
}

// read processes the server's output: its port, its errors and their repair.
func (s *server) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var one outputLine
		if json.Unmarshal(lines.Bytes(), &one) != nil {
			continue
		}
		switch {
		case one.Port > 0 && one.Port < 1<<16:
			select {
			case s.ready <- one.Port:
			default: // it said so before
			}
		case one.Error != "":
			one.Error, one.File = clip(one.Error), choir.PlainPath(strings.TrimPrefix(one.File, sourceInside+"/"))
			s.trouble.Store(&one)
			s.report(choir.DesktopBroke{Origin: choir.BrokeServer, Message: one.Error, File: one.File, Line: one.Line})
		case one.Changed:
			s.trouble.Store(nil)
		}
	}
	if lines.Err() != nil {
		// The line was too long: the rest is read only so that the server does not wait.
		_, _ = io.Copy(io.Discard, r)
	}
}

// watch ends the server after it was unused for idle.
func (s *server) watch(idle time.Duration, now func() time.Time) {
	tick := time.NewTicker(idle / 4)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			if s.open.Load() == 0 && now().Sub(time.Unix(s.last.Load(), 0)) > idle {
				s.cancel()
			}
		}
	}
}

// used records a use of the server at the time now.
func (s *server) used(now time.Time) { s.last.Store(now.Unix()) }

// ended reports whether the server has ended.
func (s *server) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// stop ends the server and waits for it.
func (s *server) stop() {
	s.cancel()
	<-s.done
}

// tail is an io.Writer that keeps the last maxTail bytes.
type tail struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if over := t.buf.Len() - maxTail; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(t.buf.String(), ""))
}

// clip returns text cut to maxTail bytes of valid UTF-8.
func clip(text string) string {
	if len(text) > maxTail {
		text = text[:maxTail]
	}
	return strings.ToValidUTF8(text, "")
}

// Live is a running development server to connect to.
type Live struct {
	server *server
	dial   func(ctx context.Context, port int) (net.Conn, error)
	now    func() time.Time
}

// live returns the server as a Live; nil for nil.
func (h *Host) live(s *server) *Live {
	if s == nil {
		return nil
	}
	return &Live{s, h.sandbox.DialPort, h.cfg.Now}
}

// Port returns the port on which the server listens inside the sandbox.
func (l *Live) Port() int { return l.server.port }

// Dial connects to the server, which stays in use until the connection is closed.
func (l *Live) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := l.dial(ctx, l.server.port)
	if err != nil {
		return nil, err
	}
	l.server.open.Add(1)
	return &usedConn{Conn: conn, live: l}, nil
}

// usedConn is a connection that keeps its server in use until it is closed.
type usedConn struct {
	net.Conn
	live *Live
	once sync.Once
}

// Close implements net.Conn.
func (c *usedConn) Close() error {
	c.once.Do(func() {
		c.live.server.used(c.live.now())
		c.live.server.open.Add(-1)
	})
	return c.Conn.Close()
}
