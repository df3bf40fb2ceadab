package conductor

import (
	"context"
	"encoding/json"
	"iter"
	"testing"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// blobLog is a log that has only blobs.
type blobLog map[choir.Digest][]byte

func (b blobLog) GetBlob(_ context.Context, d choir.Digest) ([]byte, error) {
	if raw, ok := b[d]; ok {
		return raw, nil
	}
	return nil, choir.E("test", choir.CodeNotFound, "no blob %s", d)
}

func (blobLog) PutBlob(context.Context, []byte) (choir.Digest, error) { panic("not used") }

func (blobLog) Append(_ context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	for _, d := range drafts {
		if d.Type != choir.TypeDecisionRefused {
			panic("not used")
		}
	}
	return make([]choir.Receipt, len(drafts)), nil
}

func (blobLog) Events(context.Context, uint64, uint64) iter.Seq2[choir.Event, error] {
	panic("not used")
}

func (blobLog) Follow(context.Context, uint64, func(choir.Event) error) error { panic("not used") }

func (blobLog) ReadFacts(context.Context, choir.ID) (string, error) { panic("not used") }

func (blobLog) LookAtWorkspace(context.Context, choir.LookRequest) (string, error) { panic("not used") }

func (blobLog) ReadRun(context.Context, choir.ID) (choir.RunReadReply, error) { panic("not used") }

// putJSON stores a value as JSON and gives its digest.
func (b blobLog) putJSON(t *testing.T, v any) choir.Digest {
	t.Helper()
	raw, err := choir.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	b[choir.DigestOf(raw)] = raw
	return choir.DigestOf(raw)
}

const pastRun choir.ID = "019f0000-0000-7000-8000-000000000001"

func pastOf(log Log, payloads ...choir.Payload) *run {
	rec := newRecord(choir.Event{Run: pastRun}, choir.PromptSubmitted{Text: "x"}, nil)
	for _, p := range payloads {
		rec.apply(choir.Event{Run: pastRun}, p)
	}
	return newRun(context.Background(), &Conductor{cfg: Config{Log: log}}, rec)
}

// TestAPlanThatWasDecidedStands reads plans that the checks of this build would
// decide otherwise.
func TestAPlanThatWasDecidedStands(t *testing.T) {
	t.Parallel()
	good := []byte(`{"goal":"g","steps":[{"id":"a","title":"t","kind":"run","instruction":"i","acceptance_criteria":["c"]}]}`)
	if _, problems := pastOf(nil).readPlan(good); len(problems) > 0 {
		t.Fatalf("the plan that this build accepts: %v", problems)
	}
	r := pastOf(nil, &choir.PlanRefused{Problems: []string{"an earlier build said no"}})
	if _, problems := r.readPlan(good); len(problems) != 1 || problems[0] != "an earlier build said no" {
		t.Errorf("a plan that was refused: %v", problems)
	}
	r = pastOf(nil, &choir.PlanMade{Goal: "accepted before"})
	if p, problems := r.readPlan([]byte(`{"form":"of an earlier build"}`)); len(problems) > 0 || p.Goal != "accepted before" {
		t.Errorf("a plan that was accepted: %+v %v", p, problems)
	}
}

// TestAVerdictThatWasGivenStands judges without the evidence that this build wants.
func TestAVerdictThatWasGivenStands(t *testing.T) {
	t.Parallel()
	a := &attempt{step: choir.PlanStep{ID: "a", AcceptanceCriteria: []string{"c"}}}
	input := []byte(`{"step":"a","verdict":"accept","reason":"fine","added":"by an earlier build"}`)
	if _, err := readJudgement(input, a, false); err == nil {
		t.Fatal("this build wants no more than the earlier one")
	}
	if j, err := readJudgement(input, a, true); err != nil || j.Verdict != choir.VerdictAccept {
		t.Errorf("%+v %v", j, err)
	}
}

// TestACallThatWasRefusedIsRefusedAgain asks a tool for what the model was told that
// it was refused.
func TestACallThatWasRefusedIsRefusedAgain(t *testing.T) {
	t.Parallel()
	log := blobLog{}
	answers := model.Message{Role: model.User, Content: []model.Block{
		{Kind: model.ToolResult, CallID: "refused", Text: "an earlier build said no", IsError: true},
		{Kind: model.ToolResult, CallID: "done", Text: "yes"},
	}}
	r := pastOf(log)
	r.calls.step = 1
	r.rec.apply(choir.Event{Run: pastRun}, &choir.ModelCalled{Call: r.callID(0, 0), Request: log.putJSON(t, model.Request{Messages: []model.Message{answers}})})
	var carriedOut []string
	handle := r.refusedAgain(func(_ context.Context, call model.Block) (agentloop.Result, error) {
		carriedOut = append(carriedOut, call.CallID)
		return agentloop.Result{}, nil
	})
	for _, id := range []string{"refused", "done", "new"} {
		res, err := handle(t.Context(), model.Block{Kind: model.ToolCall, CallID: id, Tool: "answer", Input: json.RawMessage(`{}`)})
		if err != nil || res.IsError != (id == "refused") {
			t.Errorf("%s: %+v %v", id, res, err)
		}
	}
	if len(carriedOut) != 2 || carriedOut[0] != "done" {
		t.Errorf("carried out: %v", carriedOut)
	}
}
