package modelgw_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
	"choiros/internal/model/replay"
)

// A run that plays a recording goes on after a restart where its log ends, also
// when the calls before are not asked for again.
func TestARecordedRunGoesOnAfterARestart(t *testing.T) {
	var out bytes.Buffer
	recorder := replay.Record(&stub{stream: saysHello}, &out)
	for _, text := range []string{"one", "two"} {
		if _, err := recorder.Stream(model.WithInfo(t.Context(), model.CallInfo{Caller: "director"}), ask(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Load(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	run := id(t)
	var player *replay.Player
	r := newRig(t, func(c *modelgw.Config) {
		c.RunRoutes = func(_ context.Context, of choir.ID) (map[string]modelgw.Route, error) {
			if of != run {
				return nil, nil
			}
			return map[string]modelgw.Route{"director": {Provider: player, Model: rec.Model("director"), Free: true}}, nil
		}
	})
	call := func(text string) (model.Response, error) {
		return r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask(text), nil)
	}
	player = replay.New(rec)
	if resp, err := call("one"); err != nil || !resp.Usage.FromRecord || resp.Usage.CostUSD != 0 {
		t.Fatalf("the first answer is %+v, %v", resp, err)
	}
	r.close()
	player = replay.New(rec)
	r.open(t)
	if _, err := call("two"); err != nil {
		t.Fatal(err)
	}
	if e := wantCodeOf(t, call, "three"); !strings.Contains(e.Error(), "+  three") {
		t.Errorf("the refusal has no diff: %v", e)
	}
	for _, e := range r.log.of("model.returned")[:2] {
		if !payload[choir.ModelReturned](t, e).Recorded {
			t.Errorf("event %d does not say that it was a recording", e.Seq)
		}
	}
}

func wantCodeOf(t *testing.T, call func(string) (model.Response, error), text string) *choir.Error {
	t.Helper()
	_, err := call(text)
	return wantCode(t, err, choir.CodeUnmatched)
}
