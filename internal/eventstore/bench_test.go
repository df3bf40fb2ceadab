package eventstore

import (
	"context"
	"fmt"
	"iter"
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
	if err := s.applier.waitFor(context.Background(), head); err != nil {
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
			if err := s.applier.waitFor(context.Background(), head); err != nil {
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

// BenchmarkRead reads a log of about 20,000 events that is on the disk only: all of it in
// hand-written pages and as a sequence, in both directions, and single events.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	s := filled(b, 20_000)
	n, _ := s.Head()
	for _, size := range []int{100, 500, 1000} {
		b.Run(fmt.Sprintf("pages of %d", size), func(b *testing.B) {
			for b.Loop() {
				read := uint64(0)
				for after := uint64(0); ; {
					events, err := s.EventsAfter(ctx, after, size)
					if err != nil {
						b.Fatal(err)
					}
					if len(events) == 0 {
						break
					}
					read, after = read+uint64(len(events)), events[len(events)-1].Seq
				}
				if read != n {
					b.Fatalf("%d events", read)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
	for name, seq := range map[string]iter.Seq2[choir.Event, error]{"events": s.Events(ctx, 1, 0), "backwards": s.Backwards(ctx, 0)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				read := uint64(0)
				for _, err := range seq {
					if err != nil {
						b.Fatal(err)
					}
					read++
				}
				if read != n {
					b.Fatalf("%d events", read)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
	b.Run("one of a page", func(b *testing.B) {
		for seq := uint64(1); b.Loop(); seq = seq%n + 1 {
			if events, err := s.EventsAfter(ctx, seq-1, 1); err != nil || events[0].Seq != seq {
				b.Fatal(err)
			}
		}
	})
	b.Run("at", func(b *testing.B) {
		for seq := uint64(1); b.Loop(); seq = seq%n + 1 {
			if e, err := s.At(ctx, seq); err != nil || e.Seq != seq {
				b.Fatal(err)
			}
		}
	})
}

// filled is a store of about n events that were appended before it was opened: those
// of a run that came out of order are refused.
func filled(b *testing.B, n int) *Store {
	dir := b.TempDir()
	s := open(b, dir)
	for load := workload(b, n); len(load) > 0; {
		var wg sync.WaitGroup
		batch := load[:min(500, len(load))]
		for _, p := range batch {
			wg.Go(func() { s.Append(context.Background(), p.role, p.d) })
		}
		wg.Wait()
		load = load[len(batch):]
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return open(b, dir)
}
