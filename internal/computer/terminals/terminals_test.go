package terminals

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a Process whose output the test writes. It stands in for a sandbox,
// which the tests of internal/computer have.
type program struct {
	out    chan []byte
	exit   chan guest.Exit
	hangup func(*program)

	mu    sync.Mutex // guards what follows
	typed bytes.Buffer
	sizes []guest.Size
	stuck bool
	free  chan struct{}
}

func newProgram() *program {
	p := &program{out: make(chan []byte), exit: make(chan guest.Exit, 9), free: make(chan struct{})}
	p.hangup = func(p *program) { p.exit <- guest.Exit{Code: -1, Signal: "SIGHUP"} }
	return p
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	stuck := p.stuck
	p.mu.Unlock()
	if stuck {
		<-p.free
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.typed.Write(b)
}

func (p *program) Resize(s guest.Size) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sizes = append(p.sizes, s)
	return nil
}

func (p *program) Signal(string) error { p.hangup(p); return nil }
func (p *program) Kill() error         { p.exit <- guest.Exit{Code: -1, Signal: "SIGKILL"}; return nil }
func (p *program) Close() error        { return nil }

func (p *program) Wait(stdout, _ io.Writer) (guest.Exit, error) {
	for {
		select {
		case b := <-p.out:
			if _, err := stdout.Write(b); err != nil {
				return guest.Exit{}, err
			}
		case x := <-p.exit:
			if p.stuck {
				close(p.free)
			}
			return x, nil
		}
	}
}

// rig is a set with one terminal.
type rig struct {
	*Set
	t      *testing.T
	p      *program
	id     choir.ID
	ends   []End
	active int
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	b := &rig{t: t, p: newProgram(), id: "01a1fc66-455c-725b-b446-026efbb4ef29"}
	cfg.Opened = func(context.Context, Info, choir.Role) error { return nil }
	cfg.Ended = func(_ Info, e End) { b.ends = append(b.ends, e) }
	var mu sync.Mutex
	cfg.Active = func() { mu.Lock(); b.active++; mu.Unlock() }
	b.Set = New(cfg)
	if err := b.open(b.id); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *rig) open(id choir.ID) error {
	_, err := b.Open(b.t.Context(), choir.RoleShell, Info{ID: id, Size: guest.Size{Rows: 24, Cols: 80}}, func() (Process, error) { return b.p, nil })
	return err
}

func (b *rig) attach(after uint64) *View {
	b.t.Helper()
	v, err := b.Attach(b.id, after)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// read takes n bytes of output and acknowledges each update, if it should.
func (b *rig) read(v *View, n int, ack bool) (string, uint64) {
	b.t.Helper()
	var out []byte
	var lost uint64
	for len(out) < n {
		u, err := v.Next(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, u.Data...)
		lost += u.Lost
		if ack && len(u.Data) > 0 {
			v.Ack(u.From + uint64(len(u.Data)))
		}
	}
	return string(out), lost
}

func TestTheRingKeepsTheNewestBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := ring{keep: rapid.IntRange(1, 40).Draw(t, "keep")}
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 90)).Draw(t, "writes") {
			r.write(p)
			all = append(all, p...)
			if int(r.end) != len(all) || len(all)-int(r.start()) != min(len(all), r.keep) {
				t.Fatalf("it keeps %d to %d of %d", r.start(), r.end, len(all))
			}
		}
		at := rapid.Uint64Range(0, uint64(len(all))).Draw(t, "at")
		buf := make([]byte, rapid.IntRange(0, 60).Draw(t, "room"))
		from, n := r.read(buf, at)
		if at >= r.start() && from != at || !bytes.Equal(buf[:n], all[from:int(from)+n]) {
			t.Fatalf("%d bytes from %d instead of %d: %q", n, from, at, buf[:n])
		}
		if n < len(buf) && int(from)+n != len(all) {
			t.Fatalf("it stops at %d of %d", int(from)+n, len(all))
		}
	})
}

func TestALateViewBeginsWithAWholeLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{Keep: 16})
		b.p.out <- []byte("first line\r\nsecond\r\nthird\r\n")
		synctest.Wait()
		v := b.attach(0)
		out, lost := b.read(v, 1, true)
		if out != "second\r\nthird\r\n" || lost != uint64(len("first line\r\n")) {
			t.Errorf("got %q after %d lost bytes", out, lost)
		}
		v.Close()
		b.Shut("")
	})
}

func TestAViewComesBackWithItsOffset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{})
		b.p.out <- []byte("hello ")
		synctest.Wait()
		v := b.attach(0)
		if out, _ := b.read(v, 6, true); out != "hello " {
			t.Errorf("got %q", out)
		}
		v.Close()
		b.p.out <- []byte("world")
		synctest.Wait()
		again := b.attach(6)
		if again.Head() != 11 {
			t.Errorf("the head is %d", again.Head())
		}
		if out, lost := b.read(again, 5, true); out != "world" || lost != 0 {
			t.Errorf("got %q", out)
		}
		again.Close()
		future := b.attach(1 << 40)
		if out, _ := b.read(future, 11, true); out != "hello world" {
			t.Errorf("from the future: %q", out)
		}
		future.Close()
		b.Shut("")
	})
}

func TestAFloodIsHeldUpByTheSlowestAndGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{Keep: 4096, Window: 1024, Patience: 10 * time.Second})
		quick, slow := b.attach(0), b.attach(0)
		quickDone := make(chan struct{})
		var got bytes.Buffer
		go func() {
			defer close(quickDone)
			for {
				u, err := quick.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				got.Write(u.Data)
				if len(u.Data) > 0 {
					quick.Ack(u.From + uint64(len(u.Data)))
				}
				if u.End != nil {
					return
				}
			}
		}()
		line := []byte(strings.Repeat("y", 511) + "\n")
		began := time.Now()
		sent := 0
		flood := func(n int) {
			for range n {
				b.p.out <- line
				sent += len(line)
			}
		}
		flood(3) // the third is more than the window
		synctest.Wait()
		select {
		case b.p.out <- line:
			t.Fatal("the slow view does not hold the output up")
		default:
		}
		flood(20)
		if waited := time.Since(began); waited != 10*time.Second {
			t.Errorf("it was held up for %s", waited)
		}
		if _, err := slow.Next(t.Context()); choir.CodeOf(err) != choir.CodeTimeout {
			t.Errorf("the slow view is told %v", err)
		}
		slow.Close()
		b.p.exit <- guest.Exit{}
		<-quickDone
		if got.Len() != sent {
			t.Errorf("the quick one has %d bytes of %d", got.Len(), sent)
		}
		b.Shut("")
	})
}

func TestWithoutAViewTheProgramGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{Keep: 1000, Window: 100})
		for range 100 {
			b.p.out <- make([]byte, 1000)
		}
		synctest.Wait()
		v := b.attach(0)
		if _, lost := b.read(v, 1000, true); lost != 99_000 {
			t.Errorf("%d bytes are lost", lost)
		}
		v.Close()
		b.Shut("")
	})
}

func TestTheLastUsedBrowserLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{})
		one, two := b.attach(0), b.attach(0)
		small, large := guest.Size{Rows: 10, Cols: 40}, guest.Size{Rows: 50, Cols: 200}
		steps := []struct {
			do   func() error
			size guest.Size
		}{
			{func() error { return one.Resize(small) }, small},
			{func() error { return two.Resize(large) }, small}, // does not lead
			{func() error { return two.Type([]byte("x")) }, large},
			{one.Use, small},
			{func() error { return one.Resize(large) }, large},
			{func() error { return one.Resize(small) }, small},
			{func() error { one.Close(); return nil }, large}, // the other leads then
		}
		for i, s := range steps {
			if err := s.do(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := b.List()[0].Size; got != s.size {
				t.Errorf("after step %d it is %v, not %v", i, got, s.size)
			}
			b.p.mu.Lock()
			if n := len(b.p.sizes); b.p.sizes[n-1] != s.size {
				t.Errorf("after step %d the program was told %v", i, b.p.sizes)
			}
			b.p.mu.Unlock()
		}
		u, err := two.Next(t.Context())
		if err != nil || u.Status == nil || !u.Status.Lead || u.Status.Viewers != 1 {
			t.Errorf("%+v %v", u.Status, err)
		}
		two.Close()
		b.Shut("")
	})
}

func TestWhatIsTypedAheadIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{})
		b.p.stuck = true
		v := b.attach(0)
		var err error
		for n := 0; err == nil; n += 64 << 10 {
			if n > 2*MaxAhead {
				t.Fatal("it is not bounded")
			}
			err = v.Type(make([]byte, 64<<10))
		}
		if choir.CodeOf(err) != choir.CodeTooLarge {
			t.Errorf("got %v", err)
		}
		v.Close()
		b.Shut("")
	})
}

func TestAViewIsToldWhatWasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{})
		v := b.attach(0)
		if err := v.Type(make([]byte, takenStep)); err != nil {
			t.Fatal(err)
		}
		for {
			u, err := v.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if u.Taken == takenStep {
				break
			}
		}
		v.Close()
		b.Shut("")
	})
}

func TestTheLastLineSaysWhyItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{})
		b.p.hangup = func(*program) {} // it does not listen
		v := b.attach(0)
		_, release := b.Stop(choir.TerminalRewind, "Going back.")
		if err := b.open("other"); choir.CodeOf(err) != choir.CodeConflict {
			t.Errorf("one can be opened meanwhile: %v", err)
		}
		var out string
		for {
			u, err := v.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out += string(u.Data)
			if u.End != nil {
				if u.End.Reason != choir.TerminalRewind || u.End.Signal != "SIGKILL" {
					t.Errorf("%+v", u.End)
				}
				break
			}
		}
		if !strings.HasSuffix(out, "[Going back.]\r\n") {
			t.Errorf("it shows %q", out)
		}
		if len(b.ends) != 1 || len(b.List()) != 0 {
			t.Errorf("ends %v, open %v", b.ends, b.List())
		}
		release()
		b.p = newProgram()
		if err := b.open("other"); err != nil {
			t.Error(err)
		}
		v.Close()
		b.Shut("")
	})
}

func TestThereAreNotTooMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRig(t, Config{Limit: 1})
		if err := b.open("other"); choir.CodeOf(err) != choir.CodeRateLimited {
			t.Errorf("got %v", err)
		}
		if err := b.Close("other"); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("got %v", err)
		}
		if err := b.Close(b.id); err != nil {
			t.Error(err)
		}
		if b.ends[0].Reason != choir.TerminalShut {
			t.Errorf("%+v", b.ends)
		}
		b.p = newProgram()
		if err := b.open("other"); err != nil {
			t.Error(err)
		}
		b.Shut("")
	})
}
