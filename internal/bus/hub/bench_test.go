package hub_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// report says what the median hides.
func report(b *testing.B, samples []time.Duration) {
	slices.Sort(samples)
	b.ReportMetric(float64(samples[len(samples)/2].Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(samples[len(samples)*99/100].Nanoseconds())/1e3, "p99-us")
}

// BenchmarkRaw is the peer: publish to receive over two plain connections.
func BenchmarkRaw(b *testing.B) {
	s, h := bustest.Start(b), bustest.NewHome(b)
	from, to := connect(b, s, choir.RoleControl, h), connect(b, s, choir.RoleShell, h)
	subject := "user." + string(h.User) + "." + string(h.Computer) + ".prompt.submitted"
	got := make(chan *nats.Msg, 1)
	if _, err := to.ChanSubscribe(subject, got); err != nil {
		b.Fatal(err)
	}
	flush(b, to)
	body := make([]byte, 600)
	samples := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		if err := from.Publish(subject, body); err != nil {
			b.Fatal(err)
		}
		<-got
		samples = append(samples, time.Since(start))
	}
	report(b, samples)
}

// BenchmarkDeliver is append in memory, relay, stream, Follow.
func BenchmarkDeliver(b *testing.B) {
	s, l := bustest.Start(b), bustest.NewLog(bustest.NewHome(b))
	answerFrom(b, s, l)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{}, 2)
	go func() {
		_ = hub.NewRelay(s, l, bustest.Cursor(filepath.Join(b.TempDir(), "relay.json")), l.Home.User, l.Home.Computer).Serve(ctx)
		done <- struct{}{}
	}()
	c := bustest.Dial(b, s, choir.RoleShell, l.Home)
	got := make(chan uint64, 1)
	go func() {
		_ = c.Follow(ctx, 0, func(e choir.Event) error { got <- e.Seq; return nil })
		done <- struct{}{}
	}()
	l.Append(1)
	<-got
	samples := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		l.Append(1)
		<-got
		samples = append(samples, time.Since(start))
	}
	report(b, samples)
	cancel()
	<-done
	<-done
}

// BenchmarkCall is one command and its answer.
func BenchmarkCall(b *testing.B) {
	for _, way := range []string{"in process", "door"} {
		b.Run(way, func(b *testing.B) {
			s, l := bustest.Start(b), bustest.NewLog(bustest.NewHome(b))
			answerFrom(b, s, l)
			dial := s.Dial
			if way == "door" {
				path := filepath.Join(b.TempDir(), "bus.sock")
				door(b, s, path)
				dial = func(context.Context) (net.Conn, error) { return net.Dial("unix", path) }
			}
			c := bustest.DialWith(b, dial, bustest.Mint(b, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
			samples := make([]time.Duration, 0, b.N)
			for b.Loop() {
				start := time.Now()
				if _, err := c.EventsAfter(b.Context(), 0, 1); err != nil {
					b.Fatal(err)
				}
				samples = append(samples, time.Since(start))
			}
			report(b, samples)
		})
	}
}

// BenchmarkRelay is how fast a backlog is delivered.
func BenchmarkRelay(b *testing.B) {
	for _, size := range []int{20_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := bustest.Start(b)
			for b.Loop() {
				b.StopTimer()
				l := bustest.NewLog(bustest.NewHome(b))
				l.Append(size)
				to := connect(b, s, choir.RoleShell, l.Home)
				got := make(chan *nats.Msg, size)
				for _, subject := range []string{"user.%s.%s.>", "agent.%s.%s.*.>"} {
					if _, err := to.ChanSubscribe(fmt.Sprintf(subject, l.Home.User, l.Home.Computer), got); err != nil {
						b.Fatal(err)
					}
				}
				flush(b, to)
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan struct{})
				b.StartTimer()
				go func() {
					defer close(done)
					_ = hub.NewRelay(s, l, bustest.Cursor(filepath.Join(b.TempDir(), "relay.json")), l.Home.User, l.Home.Computer).Serve(ctx)
				}()
				for range size {
					<-got
				}
				cancel()
				<-done
				to.Close()
			}
			b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkStart is the bus up with a stream, on a fresh folder and on a used one.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := hub.Start(b.Context(), hub.Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// BenchmarkMint is one connection's credentials.
func BenchmarkMint(b *testing.B) {
	s, h := bustest.Start(b), bustest.NewHome(b)
	var creds bus.Credentials
	for b.Loop() {
		creds = bustest.Mint(b, s, choir.RoleDirector, h)
	}
	_ = creds
}
