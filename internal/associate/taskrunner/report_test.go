package taskrunner

import (
	"context"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// memoryLog is a log and a store of blobs in memory.
type memoryLog struct {
	drafts []choir.Draft
	blobs  map[choir.Digest][]byte
	err    error // of every append
}

func (m *memoryLog) Append(_ context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if m.err != nil {
		return nil, m.err
	}
	m.drafts = append(m.drafts, drafts...)
	return make([]choir.Receipt, len(drafts)), nil
}

func (m *memoryLog) PutBlob(_ context.Context, content []byte) (choir.Digest, error) {
	d := choir.DigestOf(content)
	m.blobs[d] = content
	return d, nil
}

func (m *memoryLog) GetBlob(_ context.Context, d choir.Digest) ([]byte, error) {
	return m.blobs[d], nil
}

func newMemoryRecord() (*record, *memoryLog) {
	log := &memoryLog{blobs: map[choir.Digest][]byte{}}
	now := choir.Time(1000)
	event := choir.Event{ID: "01890000-0000-7000-8000-000000000003", Run: "01890000-0000-7000-8000-000000000001", Task: "01890000-0000-7000-8000-000000000002"}
	return &record{life: context.Background(), event: event, log: log, blobs: log, now: func() choir.Time { now++; return now }}, log
}

// TestAResultThatIsTooLargeIsCut: its diff becomes a blob first, and nothing else is cut when
// that was enough.
func TestAResultThatIsTooLargeIsCut(t *testing.T) {
	t.Parallel()
	rec, log := newMemoryRecord()
	r := newReport(rec)
	diff := strings.Repeat("+line\n", inlineRoom/6)
	r.result.Summary = strings.Repeat("x", 6000)
	r.result.Verify = unverified()
	r.showChange(&choir.Diff{Format: "unified", Content: diff}, 0, nil)
	r.setDuration()
	if err := r.answer(); err != nil {
		t.Fatal(err)
	}
	var p choir.TaskReturned
	if len(log.drafts) != 1 {
		t.Fatalf("%d events", len(log.drafts))
	}
	if err := choir.DecodeDurable(log.drafts[0].Payload, &p); err != nil {
		t.Fatal(err)
	}
	if p.Result.Diff.Content != "" || string(log.blobs[p.Result.Diff.Blob]) != diff || len(p.Result.Summary) != 6000 || p.Result.Usage.WallMS != 1 {
		t.Errorf("the result is %+v", p.Result)
	}
}

// TestWhatIsTakenBackIsNotReported: a task that failed after its checkpoint appends its result
// alone.
func TestWhatIsTakenBackIsNotReported(t *testing.T) {
	t.Parallel()
	rec, log := newMemoryRecord()
	r := newReport(rec)
	commit := "abc"
	d, err := choir.NewDraft(choir.DeriveID(rec.event.Task, "checkpointed"), choir.TaskProgressed{Kind: "progress", Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	r.addCheckpoint(point{snapshot: "one", commit: &commit, notes: []string{"Kept."}, drafts: []choir.Draft{d}})
	if r.result.Snapshot != "one" || r.result.Summary != "Kept." {
		t.Errorf("the result is %+v", r.result)
	}
	r.dropCheckpoint()
	r.setFailure(fail(choir.ResultTimeBudget, "too slow"))
	if err := r.answer(); err != nil {
		t.Fatal(err)
	}
	if len(log.drafts) != 1 || r.result.Checkpoint != nil || r.result.Status != choir.StatusFailed || r.result.SuggestedNext == nil {
		t.Errorf("%d events, the result is %+v", len(log.drafts), r.result)
	}
}

// TestToolCallsAreNumbered: a refused call has both its events under the next number.
func TestToolCallsAreNumbered(t *testing.T) {
	t.Parallel()
	rec, log := newMemoryRecord()
	calls := &toolCalls{rec: rec, gate: gate{&pauses{}, rec.event.Run}}
	if id := calls.countCall(); id != choir.ToolCallID(rec.event.Task, 1) {
		t.Errorf("the first call is %s", id)
	}
	d, err := calls.called(choir.ToolCallID(rec.event.Task, 1), "", choir.ToolInput{Command: strings.Repeat("x", inlineRoom)}, []byte("raw"))
	if err != nil {
		t.Fatal(err)
	}
	if err := calls.beginCall(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	var p choir.ToolCalled
	if err := choir.DecodeDurable(log.drafts[0].Payload, &p); err != nil || p.Tool != "(none)" || string(log.blobs[p.Input.Blob]) != "raw" {
		t.Errorf("the call is %+v: %v", p, err)
	}
	log.err = choir.E("log", choir.CodeInternal, "broken")
	if err := calls.beginCall(context.Background(), d); err == nil || len(log.drafts) != 1 {
		t.Errorf("%d events: %v", len(log.drafts), err)
	}
}
