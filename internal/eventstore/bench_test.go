package eventstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// work is the events of one small run, as the parts of the system append them.
func work(run, task choir.ID, n int) []choir.Payload {
	d := choir.DigestOf([]byte(fmt.Sprint("content ", n)))
	call := func(k int) choir.ID { return choir.DeriveID(run, "call", fmt.Sprint(k)) }
	out := []choir.Payload{
		choir.PromptSubmitted{Text: "make the tests pass in the parser"},
		choir.DocumentCreated{Document: choir.DeriveID(run, "doc"), Title: "Parser", Content: "# Parser\n"},
		choir.ModelCalled{Call: call(0), Caller: "director", Provider: "replay", Model: "m", Request: d},
		choir.ModelReturned{Call: call(0), Caller: "director", Provider: "replay", Model: "m", Response: d, InputTokens: 900, OutputTokens: 90, CostUSD: 0.01, DurationMS: 700},
		choir.PlanMade{Goal: "tests pass", Steps: []choir.PlanStep{{ID: "1", Title: "fix", Kind: choir.TaskEditRepo, Instruction: "fix it", AcceptanceCriteria: []string{"green"}}}},
		choir.TaskDispatched{Task: choir.DirectorTask{Version: 1, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "fix it"}, Step: "1"},
		choir.TaskStarted{Base: d, Attempt: 1},
	}
	for k := 1; k <= 3; k++ {
		out = append(out,
			choir.ModelCalled{Call: call(k), Caller: "associate", Provider: "replay", Model: "m", Request: d},
			choir.ModelReturned{Call: call(k), Caller: "associate", Provider: "replay", Model: "m", Response: d, InputTokens: 900, OutputTokens: 90, CostUSD: 0.01, DurationMS: 700},
			choir.ToolCalled{Call: call(10 + k), Tool: "bash", Input: choir.ToolInput{Command: "go test ./..."}},
			choir.ToolReturned{Call: call(10 + k), OK: true, Output: strings.Repeat("ok  parser 0.1s\n", 8), DurationMS: 120},
		)
	}
	return append(out,
		choir.SnapshotTaken{Snapshot: d, Reason: "task_ended", Files: 100, Bytes: 100_000},
		choir.FileWritten{Files: []choir.FileState{{Path: fmt.Sprintf("parser/file%d.go", n%200), Kind: "file", Mode: 0o644, Size: 900, MTime: int64(n), Digest: d}}, Snapshot: d},
		choir.CheckpointCreated{Checkpoint: choir.DeriveID(run, "checkpoint"), Snapshot: d, Subject: "checkpoint", Trigger: "task", Verified: true},
		choir.TaskReturned{Result: choir.AssociateResult{Version: 1, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: "fixed", FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Verify: choir.VerifyOutcome{Mode: "smoke", Status: "pass"}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{}}},
		choir.TaskJudged{Task: task, Step: "1", Verdict: choir.VerdictAccept, Criteria: []choir.CriterionMet{}, Reason: "green"},
		choir.DocumentVersioned{Document: choir.DeriveID(run, "doc"), Version: 1, Content: "# Parser\n\nThe tests pass."},
		choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "done"},
	)
}

type prepared struct {
	role choir.Role
	d    choir.Draft
}

// workload is about n drafts in the order of their runs.
func workload(t testing.TB, n int) []prepared {
	var out []prepared
	for i := 0; len(out) < n; i++ {
		run, task := newID(), newID()
		for _, p := range work(run, task, i) {
			info, _ := choir.LookupType(p.EventType())
			out = append(out, prepared{info.Roles[0], draft(t, p, run, task)})
		}
	}
	return out[:n]
}

// benchAppend has writers append whole runs, because events answer earlier ones.
func benchAppend(b *testing.B, writers int) {
	s := open(b, b.TempDir())
	load := workload(b, b.N)
	runs := make(chan []prepared, len(load))
	for size := len(work(newID(), newID(), 0)); len(load) > 0; load = load[min(size, len(load)):] {
		runs <- load[:min(size, len(load))]
	}
	close(runs)
	b.ResetTimer()
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for run := range runs {
				for _, p := range run {
					if _, err := s.Append(context.Background(), p.role, p.d); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	head, _ := s.Head()
	if err := s.applier.reach(context.Background(), head); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) { benchAppend(b, writers) })
	}
}

// BenchmarkRebuild makes all projections anew, chain check included.
func BenchmarkRebuild(b *testing.B) {
	sizes := []int{1_500, 100_000}
	if os.Getenv("CHOIR_BENCH_LARGE") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, b.TempDir())
			load := workload(b, n)
			for len(load) > 0 {
				batch := load[:min(500, len(load))]
				var wg sync.WaitGroup
				for _, p := range batch {
					wg.Go(func() { s.Append(context.Background(), p.role, p.d) })
				}
				wg.Wait()
				load = load[len(batch):]
			}
			head, _ := s.Head()
			if err := s.applier.reach(context.Background(), head); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.Rebuild(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkOpen opens and closes a log of 1,500 events that was closed in order.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	for _, p := range workload(b, 1500) {
		if _, err := s.Append(context.Background(), p.role, p.d); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(context.Background(), dir, testConfig())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
