package replay_test

import (
	"bytes"
	"context"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/replay"
)

type exchange struct {
	caller string
	req    model.Request
	resp   model.Response
}

func info(run choir.ID, caller string) model.CallInfo {
	return model.CallInfo{Run: run, Caller: caller}
}

// said is a provider that gives one answer in one piece for each block.
type said model.Response

func (said) Name() string { return "said" }

func (s said) Stream(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
	for _, b := range s.Content {
		on(model.Delta{Text: b.Text, Tool: b.Tool, Input: string(b.Input)})
	}
	return model.Response(s), nil
}

// changing lets each exchange of a recording have an answer of its own.
type changing struct{ now said }

func (*changing) Name() string { return "changing" }

func (c *changing) Stream(ctx context.Context, r model.Request, on func(model.Delta)) (model.Response, error) {
	return c.now.Stream(ctx, r, on)
}

func record(t testing.TB, exchanges ...exchange) []byte {
	t.Helper()
	var out bytes.Buffer
	next := &changing{}
	r := replay.Record(next, &out)
	for _, e := range exchanges {
		next.now = said(e.resp)
		if _, err := r.Stream(model.WithInfo(context.Background(), info("", e.caller)), e.req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func play(t testing.TB, recording []byte) *replay.Player {
	t.Helper()
	rec, err := replay.Load(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	return replay.New(rec)
}

// ask asks for an exchange and checks that the pieces make up the answer.
func ask(t testing.TB, p model.Provider, run choir.ID, e exchange) (model.Response, error) {
	t.Helper()
	var got, want model.Delta
	join := func(to *model.Delta, d model.Delta) {
		*to = model.Delta{Text: to.Text + d.Text, Tool: to.Tool + d.Tool, Input: to.Input + d.Input}
	}
	resp, err := p.Stream(model.WithInfo(context.Background(), info(run, e.caller)), e.req, func(d model.Delta) { join(&got, d) })
	for _, b := range resp.Content {
		join(&want, model.Delta{Text: b.Text, Tool: b.Tool, Input: string(b.Input)})
	}
	if got != want {
		t.Errorf("the pieces are %+v, the answer is %+v", got, want)
	}
	return resp, err
}

func line(t testing.TB, rec []byte, n int) []byte {
	t.Helper()
	return bytes.SplitAfter(rec, []byte("\n"))[n]
}
