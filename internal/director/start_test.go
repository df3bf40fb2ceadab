package director_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
	"choiros/internal/director/conductor"
	"choiros/internal/eventstore"
	"choiros/internal/model"
)

// countedLog is the log without a bus between, and counts what is read of it.
type countedLog struct {
	*eventstore.Store
	facts string // of every run
	read  atomic.Int64
}

func (l *countedLog) Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return l.Store.Append(ctx, choir.RoleDirector, drafts...)
}

func (l *countedLog) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return l.counted(l.Store.Events(ctx, from, to))
}

func (l *countedLog) counted(events iter.Seq2[choir.Event, error]) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				l.read.Add(1)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (l *countedLog) Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	for e, err := range l.counted(l.Store.Follow(ctx, seq)) {
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *countedLog) ReadRun(ctx context.Context, run choir.ID) (choir.RunReadReply, error) {
	return readRun(ctx, l.Store, run)
}

func (l *countedLog) ReadFacts(context.Context, choir.ID) (string, error) { return l.facts, nil }

func (l *countedLog) LookAtWorkspace(context.Context, choir.LookRequest) (string, error) {
	return "", choir.E("test", choir.CodeNotFound, "this test has no snapshots")
}

func (l *countedLog) PutBlob(context.Context, []byte) (choir.Digest, error) {
	return "", choir.E("test", choir.CodeUnavailable, "this test has no blobs")
}

func (l *countedLog) GetBlob(context.Context, choir.Digest) ([]byte, error) {
	return nil, choir.E("test", choir.CodeUnavailable, "this test has no blobs")
}

// greeter is a model that shows a toast, whatever it is asked.
type greeter struct{ asked chan model.Request }

func (g greeter) Call(_ context.Context, _ model.CallInfo, req model.Request, _ func(model.Delta)) (model.Response, error) {
	g.asked <- req
	toast := model.Block{Kind: model.ToolCall, CallID: "1", Tool: "show_toast", Input: json.RawMessage(`{"text":"Hello."}`)}
	return model.Response{Content: []model.Block{toast}, Stop: model.StopTool}, nil
}

func openLog(t *testing.T) *countedLog {
	t.Helper()
	home := bustest.NewHome(t)
	log, err := eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: home.Computer, User: home.User, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return &countedLog{Store: log}
}

// grow appends so many events of runs that are over.
func (l *countedLog) grow(t *testing.T, events int) {
	t.Helper()
	for n := 0; n < events; n += 2 * choir.MaxDrafts {
		var prompts, ends []choir.Draft
		for k := range choir.MaxDrafts {
			old := choir.DeriveID(runID, "old", strconv.Itoa(n+k))
			prompts = append(prompts, draftOf(t, old, "prompt", &choir.PromptSubmitted{Text: "x"}))
			ends = append(ends, draftOf(t, old, "finished", &choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."}))
		}
		if _, err := l.Store.Append(t.Context(), choir.RoleCLI, prompts...); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Store.Append(t.Context(), choir.RoleControl, ends...); err != nil {
			t.Fatal(err)
		}
	}
}

func draftOf(t *testing.T, run choir.ID, name string, p choir.Payload) choir.Draft {
	t.Helper()
	d, err := choir.NewDraft(choir.DeriveID(run, name), p)
	if err != nil {
		t.Fatal(err)
	}
	return d.ForRun(run, "")
}

// longLog makes TestALongLogDoesNotSlowTheStart take so many events.
const longLog = "CHOIR_TEST_EVENTS"

// TestALongLogDoesNotSlowTheStart: of a long log the Director reads the events
// that its open run may need, and no others.
func TestALongLogDoesNotSlowTheStart(t *testing.T) {
	t.Parallel()
	old := 10_000
	if testing.Short() {
		old = 2_000
	}
	if n, err := strconv.Atoi(os.Getenv(longLog)); err == nil {
		old = n
	}
	log := openLog(t)
	log.grow(t, old)
	head, _ := log.Head()
	draft, err := choir.NewDraft(choir.DeriveID(runID, "prompt"), &choir.PromptSubmitted{Text: "hello"})
	if err == nil {
		_, err = log.Store.Append(t.Context(), choir.RoleCLI, draft.ForRun(runID, ""))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	models := greeter{make(chan model.Request, 1)}
	began := time.Now()
	work.Go(func() {
		_ = conductor.New(conductor.Config{
			Log: log, Models: models, Key: key, After: head, Projects: []string{"second", "first"},
			Now: func() choir.Time { return choir.TimeOf(time.Now()) },
		}).Serve(ctx)
	})
	req := <-models.asked
	t.Logf("the model was asked %s after the start", time.Since(began))
	if said := req.Messages[0].Content[0].Text; !strings.Contains(said, "Projects in the workspace: second, first.") {
		t.Errorf("the model was told %q", said)
	}
	done := errors.New("found")
	err = log.Follow(bustest.Within(t), head, func(e choir.Event) error {
		if e.Type == "run.finished" && e.Run == runID {
			return done
		}
		return nil
	})
	stop()
	work.Wait()
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	if n := log.read.Load(); n > 100 {
		t.Errorf("%d events were read", n)
	}
}
