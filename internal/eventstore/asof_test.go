package eventstore

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

// TestARunAsOfAMomentIsWhatItWas: what is made of the events up to a moment is
// what the projections said then, whatever came later and in other runs.
func TestARunAsOfAMomentIsWhatItWas(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run, other, task := newID(), newID(), newID()
	type was struct {
		Run   Run
		Tasks []Task
	}
	then := map[uint64]was{}
	result := choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: "done",
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}
	first := add(t, s, other, "", choir.PromptSubmitted{Text: "another"})
	for _, p := range []choir.Payload{
		choir.PromptSubmitted{Text: "do it"},
		choir.TaskDispatched{Task: choir.DirectorTask{Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "x"}},
		choir.TaskStarted{Base: choir.DigestOf(nil), Attempt: 1},
		choir.ModelReturned{Call: newID(), Caller: "director", Provider: "p", Model: "m", InputTokens: 5, CostUSD: 0.5},
		choir.TaskReturned{Result: result},
		choir.DocumentCreated{Document: newID(), Title: "d"},
		choir.QuestionAsked{Question: choir.Question{ID: "q", Text: "?"}},
		choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "there"},
	} {
		of := choir.ID("")
		switch p.EventType() {
		case "task.dispatched", "task.started", "task.returned":
			of = task
		}
		at := add(t, s, run, of, p)
		tasks, err := s.Tasks(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		then[at.Seq] = was{must[Run](t)(s.Run(ctx, run)), append([]Task{}, tasks...)}
		add(t, s, other, "", choir.SteeringSubmitted{Text: "meanwhile"})
	}
	for seq, want := range then {
		for _, at := range []uint64{seq, seq + 1} {
			got, tasks, err := s.RunAsOf(ctx, run, at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, was{got, tasks}); diff != "" {
				t.Errorf("after event %d: %s", at, diff)
			}
		}
	}
	if _, _, err := s.RunAsOf(ctx, run, first.Seq); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("before it began: %v", err)
	}
}
