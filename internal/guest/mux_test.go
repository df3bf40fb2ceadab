package guest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// overOneStream is a client of a server that is dialled once only.
func overOneStream(t testing.TB, in *inside) *Client {
	t.Helper()
	m := muxOnce(t, in.Client.dial)
	return NewClient(m.Dial)
}

// muxOnce makes a mux over a stream that can be had once.
func muxOnce(t testing.TB, dial func(context.Context) (net.Conn, error)) *Mux {
	t.Helper()
	var dialled atomic.Int32
	m := NewMux(func(ctx context.Context) (net.Conn, error) {
		if dialled.Add(1) > 1 {
			return nil, errors.New("dialled a second time")
		}
		return dial(ctx)
	})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// muxPair makes two ends of a shared stream.
func muxPair(t testing.TB) (opens, admits *muxSession) {
	t.Helper()
	a, b, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	opens, admits = newMuxSession(a, nil), newMuxSession(b, make(chan *muxStream, maxMuxStreams))
	t.Cleanup(func() { opens.close(); admits.close() })
	return opens, admits
}

// TestAMuxStreamIsAConnection runs the checks of net.Conn over a shared stream.
func TestAMuxStreamIsAConnection(t *testing.T) {
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
		opens, admits := muxPair(t)
		if a, err = opens.open(); err != nil {
			return nil, nil, nil, err
		}
		b = <-admits.coming
		return a, b, func() { a.Close(); b.Close() }, nil
	})
}

func TestAMuxStreamEndsOneWayAtATime(t *testing.T) {
	t.Parallel()
	opens, admits := muxPair(t)
	a, err := opens.open()
	if err != nil {
		t.Fatal(err)
	}
	b := <-admits.coming
	if _, err := a.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	if err := a.(*muxStream).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); string(got) != "question" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := b.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	b.Close() // what was written before still comes
	if got, err := io.ReadAll(a); string(got) != "answer" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := a.Write([]byte("x")); err == nil {
		t.Error("a write to nobody worked")
	}
}

// TestASlowReaderHoldsUpNoOther fills one connection, whose far end does not read, and
// uses another.
func TestASlowReaderHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	opens, admits := muxPair(t)
	slow, err := opens.open()
	if err != nil {
		t.Fatal(err)
	}
	<-admits.coming // and nobody reads it
	if n, err := slow.Write(make([]byte, muxWindow)); n != muxWindow || err != nil {
		t.Errorf("%d bytes went, %v", n, err)
	}
	slow.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := slow.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes more went, %v", n, err)
	}
	other, err := opens.open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	far := <-admits.coming
	go func() { io.Copy(far, far) }() // ends with the session
	if _, err := other.Write([]byte("quick")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(other, got); string(got) != "quick" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAWriterWaitsForTheStreamNoLongerThanItsDeadline has the far end stop reading in the
// middle of a frame. A close waits for nobody.
func TestAWriterWaitsForTheStreamNoLongerThanItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		s := newMuxSession(near, nil)
		defer s.close()
		defer far.Close()
		head := make([]byte, muxHead)
		var conns []net.Conn
		for range 3 {
			go io.ReadFull(far, head) // its opening
			c, err := s.open()
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			conns = append(conns, c)
		}
		go conns[0].Write([]byte("slow"))
		synctest.Wait() // it is being sent
		conns[1].SetWriteDeadline(time.Now().Add(time.Second))
		began := time.Now()
		if n, err := conns[1].Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%d bytes went within %v, %v", n, time.Since(began), err)
		}
		if err := conns[2].Close(); err != nil || time.Since(began) != time.Second {
			t.Errorf("a close took until %v, %v", time.Since(began), err)
		}
		conns[1].SetWriteDeadline(time.Time{})
		go conns[1].Write([]byte("quick"))
		want := "\x02\x00\x00\x00\x01\x00\x00\x00\x04slow" + "\x05\x00\x00\x00\x03\x00\x00\x00\x00" + "\x02\x00\x00\x00\x02\x00\x00\x00\x05quick"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(far, got); string(got) != want || err != nil {
			t.Errorf("%q was sent, %v", got, err)
		}
	})
}

// TestAPausedFarEndIsWaitedFor leaves the stream unread for an hour in which the far end stands
// still, and then for longer than it may.
func TestAPausedFarEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		s := newMuxSession(near, nil)
		defer s.close()
		head := make([]byte, muxHead)
		go io.ReadFull(far, head) // its opening
		c, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		go c.Write([]byte("before"))
		synctest.Wait() // it is being sent
		s.setPaused(true)
		<-time.After(time.Hour)
		s.setPaused(false)
		if got, err := io.ReadFull(far, make([]byte, muxHead+len("before"))); err != nil || s.ended() {
			t.Fatalf("%d bytes arrived, %v", got, err)
		}
		go c.Write([]byte("after"))
		<-time.After(writePatience + time.Millisecond)
		synctest.Wait()
		if !s.ended() {
			t.Error("a far end that reads nothing is waited for")
		}
	})
}

// stopped is a connection whose writes end late, as in a process that stood still meanwhile.
type stopped struct {
	net.Conn
	late []time.Duration // of the next writes; those behind go to the connection
}

func (c *stopped) Write(p []byte) (int, error) {
	if len(c.late) == 0 {
		return c.Conn.Write(p)
	}
	<-time.After(c.late[0])
	c.late = c.late[1:]
	n, err := c.Conn.Write(p[:2])
	return n, errors.Join(err, os.ErrDeadlineExceeded)
}

// TestWhoStoodStillWritesOn: what is late by the writer's own fault is no failure of the far end.
func TestWhoStoodStillWritesOn(t *testing.T) {
	t.Parallel()
	for late, ends := range map[time.Duration]bool{time.Hour: false, writePatience - time.Millisecond: true} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer far.Close()
			s := newMuxSession(&stopped{near, []time.Duration{late, late}}, nil)
			defer s.close()
			got := make(chan string, 1)
			go func() {
				head := make([]byte, muxHead)
				n, _ := io.ReadFull(far, head) // less where the stream ends
				got <- string(head[:n])
			}()
			_, err := s.open()
			want := "\x01\x00\x00\x00\x01\x00\x00\x00\x00"
			if ends {
				want = want[:2]
			}
			if said := <-got; said != want || (err != nil) != ends {
				t.Errorf("late by %s: %q arrived, %v", late, said, err)
			}
		})
	}
}

// TestOneConnectionTooManyIsRefusedAlone has the far end still hold a connection that
// both ended and this end forgot.
func TestOneConnectionTooManyIsRefusedAlone(t *testing.T) {
	t.Parallel()
	opens, admits := muxPair(t)
	var near, far []net.Conn
	open := func() net.Conn {
		c, err := opens.open()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range maxMuxStreams {
		near = append(near, open())
		far = append(far, <-admits.coming)
	}
	if _, err := opens.open(); choir.CodeOf(err) != choir.CodeRateLimited || opens.ended() {
		t.Errorf("one too many: %v", err)
	}
	near[0].(*muxStream).CloseWrite()
	far[0].(*muxStream).CloseWrite()
	if raw, err := io.ReadAll(near[0]); len(raw) > 0 || err != nil {
		t.Fatal(raw, err)
	}
	near[0].Close()
	if raw, err := io.ReadAll(open()); len(raw) > 0 || err != nil || opens.ended() {
		t.Errorf("a refused connection: %q, %v", raw, err)
	}
	far[0].Close()
	near, far = append(near, open()), append(far, <-admits.coming)
	for _, i := range []int{1, maxMuxStreams} {
		if _, err := near[i].Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(far[i], make([]byte, 1)); err != nil {
			t.Errorf("connection %d: %v", i, err)
		}
	}
}

// TestAFullMuxKeepsItsConnections dials one too many over a stream that can be had once.
func TestAFullMuxKeepsItsConnections(t *testing.T) {
	t.Parallel()
	m := muxOnce(t, serve(t, nil).Client.dial)
	var last net.Conn
	for range maxMuxStreams {
		c, err := m.Dial(within(t))
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	_, err := m.Dial(within(t))
	wantCode(t, err, choir.CodeRateLimited)
	last.Close()
	if _, err := NewClient(m.Dial).Hello(within(t)); err != nil {
		t.Errorf("with a place: %v", err)
	}
}

// TestAFarEndThatBreaksTheRulesEndsTheStream sends what may not come.
func TestAFarEndThatBreaksTheRulesEndsTheStream(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"an unknown kind":      {9, 0, 0, 0, 1, 0, 0, 0, 0},
		"a frame too long":     {muxData, 0, 0, 0, 1, 0xff, 0, 0, 0},
		"too much credit":      {muxCredit, 0, 0, 0, 1, 0x7f, 0, 0, 0},
		"a connection of its":  {muxOpen, 0, 0, 0, 2, 0, 0, 0, 0},
		"more than the window": bytes.Repeat(append([]byte{muxData, 0, 0, 0, 1, 0, 0, 0x80, 0}, make([]byte, muxChunk)...), muxWindow/muxChunk+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, err := socketPair()
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			s := newMuxSession(a, nil)
			defer s.close()
			c, err := s.open() // number 1
			if err != nil {
				t.Fatal(err)
			}
			go b.Write(raw) // ends with b
			s.read.Wait()
			if _, err := s.open(); err == nil {
				t.Error("the stream goes on")
			}
			if _, err := c.Write([]byte("x")); err == nil {
				t.Error("a connection of it goes on")
			}
		})
	}
}

// FuzzMux feeds any bytes to an end of a shared stream, which must end and not panic.
func FuzzMux(f *testing.F) {
	f.Add([]byte{muxOpen, 0, 0, 0, 1, 0, 0, 0, 0, muxData, 0, 0, 0, 1, 0, 0, 0, 2, 'h', 'i', muxEnd, 0, 0, 0, 1, 0, 0, 0, 0})
	f.Add([]byte{muxOpen, 0, 0, 0, 1, 0, 0, 0, 0, muxReset, 0, 0, 0, 1, 0, 0, 0, 0, muxCredit, 0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, b := net.Pipe()
		s := newMuxSession(a, make(chan *muxStream, maxMuxStreams))
		b.Write(raw)
		b.Close()
		s.read.Wait()
		for c := range s.coming {
			if got, err := io.ReadAll(c); len(got) > muxWindow || err != nil {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
		s.close()
	})
}

// TestEverythingGoesOverOneStream uses a server of which one stream can be had.
func TestEverythingGoesOverOneStream(t *testing.T) {
	t.Parallel()
	in := serve(t, func(c *Config) { c.Allow = allowOnce() })
	client, ctx := overOneStream(t, in), within(t)
	a, err := client.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := client.WriteFile(ctx, "f", 0, strings.NewReader(strings.Repeat("x", 3<<20))); err != nil {
		t.Fatal(err)
	}
	out, err := client.Run(ctx, ExecSpec{Argv: []string{"cat", "f"}, Cwd: in.workspace}, nil, 4<<20)
	if err != nil || len(out.Stdout) != 3<<20 {
		t.Errorf("%d bytes, %v", len(out.Stdout), err)
	}
	_, err = client.Stat(ctx, "none")
	wantCode(t, err, choir.CodeNotFound)
	nested := NewMux(client.dial)
	_, err = nested.Dial(ctx)
	wantCode(t, err, choir.CodeInvalid)
}

// allowOnce makes a function that refuses a second connection.
func allowOnce() func(net.Conn) error {
	var asked atomic.Int32
	return func(net.Conn) error {
		if asked.Add(1) > 1 {
			return choir.E("guest.accept", choir.CodeForbidden, "a second connection")
		}
		return nil
	}
}

// TestARoleHasItsStreamOverASharedOne has a role ask for a stream that has no
// descriptor.
func TestARoleHasItsStreamOverASharedOne(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	client := overOneStream(t, in)
	door, end, err := roledoor.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.server.serveRoleDoor(ctx, door, 1)
	}()
	defer func() { cancel(); <-done }()
	dialer, err := roledoor.NewDialer(end)
	if err != nil {
		t.Fatal(err)
	}
	defer dialer.Close()
	l := client.Listen(roledoor.Bus, CallerRole, 4)
	defer l.Close()
	roles, err := dialer.Dial(within(t), roledoor.Bus)
	if err != nil {
		t.Fatal(err)
	}
	planes, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer planes.Close()
	if _, err := roles.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	roles.Close() // as the kernel does when the role ends
	if got, err := io.ReadAll(planes); string(got) != "last words" || err != nil {
		t.Errorf("the control plane got %q, %v", got, err)
	}
}

// TestAMuxDialsAgainOnceItsStreamHasEnded breaks the stream.
func TestAMuxDialsAgainOnceItsStreamHasEnded(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	var conns []net.Conn
	m := NewMux(func(ctx context.Context) (net.Conn, error) {
		c, err := in.Client.dial(ctx)
		conns = append(conns, c)
		return c, err
	})
	client := NewClient(m.Dial)
	for range 2 {
		if _, err := client.Hello(within(t)); err != nil {
			t.Fatal(err)
		}
		conns[len(conns)-1].Close()
		l, _ := m.current()
		l.read.Wait()
	}
	if len(conns) != 2 {
		t.Errorf("dialled %d times", len(conns))
	}
	m.Close()
	if _, err := client.Hello(within(t)); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("behind the end: %v", err)
	}
}
