package modelgw_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/gateway"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/wiretest"
)

// onDisk is a gateway behind a unix socket with a real log and a real store.
func onDisk(t testing.TB, p model.Provider) *gateway.Client {
	t.Helper()
	dir := t.TempDir()
	blobs, err := fs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	now := func() choir.Time { return choir.TimeOf(time.Now()) }
	log, err := eventstore.Open(t.Context(), dir, eventstore.Config{Computer: id(t), User: id(t), Now: now, Blobs: blobs})
	if err != nil {
		t.Fatal(err)
	}
	gw := modelgw.New(storeBooks{log}, modelgw.Config{
		Computer: id(t), Log: log, Blobs: blobs, Now: now, NewID: newID,
		Routing: modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "m", Free: true}}, nil),
		Caller:  func(*http.Request) (choir.Role, bool) { return choir.RoleDirector, true },
		MayCall: func(ctx context.Context, _ choir.Role, run, _ choir.ID) error { // as a computer reads its log
			if _, err := log.Run(ctx, run); choir.CodeOf(err) != choir.CodeNotFound {
				return err
			}
			return nil
		},
	})
	socket := filepath.Join(dir, "egress.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: gw}
	go server.Serve(l)
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		gw.Close()
		server.Close()
		log.Close()
	})
	return gateway.New(&http.Client{Transport: tr})
}

// storeBooks are the books of a real log, as far as a benchmark needs them.
type storeBooks struct{ *eventstore.Store }

func (b storeBooks) Spent(ctx context.Context, run choir.ID) (modelgw.Used, error) {
	u, err := b.Usage(ctx, run)
	return modelgw.Used{Calls: u.Calls, Tokens: u.InputTokens + u.OutputTokens, CostUSD: u.CostUSD}, err
}

func (storeBooks) BegunByDesktop(context.Context, choir.ID) (bool, error) { return false, nil }

func (storeBooks) SpentByDesktop(context.Context) (modelgw.Used, error) { return modelgw.Used{}, nil }

func (storeBooks) Unreturned(context.Context) ([]choir.Event, error) { return nil, nil }

// BenchmarkFirstToken compares, call by call in turn, the time to the first
// piece through the gateway with that of the same provider called directly. The
// difference is what the gateway adds; its target is 1 ms at the median. The
// real providers think for longer than the gateway needs to record a call.
func BenchmarkFirstToken(b *testing.B) {
	for _, thinks := range []time.Duration{0, 10 * time.Millisecond} {
		b.Run(thinks.String(), func(b *testing.B) { benchFirstToken(b, thinks) })
	}
}

// thinking is a provider that takes its time.
type thinking struct {
	model.Provider
	time time.Duration
}

func (t thinking) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	time.Sleep(t.time)
	return t.Provider.Stream(ctx, req, on)
}

func benchFirstToken(b *testing.B, thinks time.Duration) {
	server := wiretest.NewServer(wiretest.Anthropic, wiretest.Step{Answer: modeltest.Answer()})
	defer server.Close()
	p := thinking{anthropic.New(anthropic.Config{BaseURL: server.URL, Key: func(context.Context) (string, error) { return "k", nil }}), thinks}
	client := onDisk(b, p)
	run := id(b)
	req := modeltest.Request()
	req.Model = "director"
	var direct, through []time.Duration
	time1 := func(call func(on func(model.Delta)) error) time.Duration {
		var first time.Duration
		start := time.Now()
		if err := call(func(model.Delta) {
			if first == 0 {
				first = time.Since(start)
			}
		}); err != nil {
			b.Fatal(err)
		}
		return first
	}
	for b.Loop() {
		direct = append(direct, time1(func(on func(model.Delta)) error {
			_, err := p.Stream(b.Context(), req, on)
			return err
		}))
		through = append(through, time1(func(on func(model.Delta)) error {
			_, err := client.Call(b.Context(), gateway.CallInfo{Call: id(b), Run: run, Caller: "director"}, req, on)
			return err
		}))
	}
	slices.Sort(direct)
	slices.Sort(through)
	us := func(d time.Duration) float64 { return float64(d.Microseconds()) }
	b.ReportMetric(us(direct[len(direct)/2]), "direct-p50-us")
	b.ReportMetric(us(through[len(through)/2]), "gateway-p50-us")
	b.ReportMetric(us(through[len(through)/2]-direct[len(direct)/2]), "added-p50-us")
}
