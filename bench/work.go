package bench

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Identities of what is measured.
const (
	benchComputer choir.ID   = "019a5f3c-0000-7000-8000-00000000be01"
	benchUser     choir.ID   = "019a5f3c-0000-7000-8000-00000000be02"
	benchTime     choir.Time = 1_795_000_000_000
)

// work is one event to be appended.
type work = eventstore.PlainDraft

// events are the first events of an endless sequence of small runs, from event
// number from on; the same numbers give the same events.
func events(from, n int) ([]work, error) {
	size := runSize()
	out := make([]work, 0, n)
	for k := from / size; len(out) < n; k++ {
		run, task := numbered(k*size, "rn"), numbered(k*size, "tk")
		for i, p := range smallRun(run, task, k) {
			at := k*size + i
			if at < from || len(out) == n {
				continue
			}
			d, err := choir.NewDraft(numbered(at, "ev"), p)
			if err != nil {
				return nil, err
			}
			info, _ := choir.LookupType(p.EventType())
			out = append(out, work{Role: info.Roles[0], Draft: d.ForRun(run, task)})
		}
	}
	return out, nil
}

// runSize is how many events a small run has.
func runSize() int { return len(smallRun(benchComputer, benchComputer, 0)) }

// numbered is an id as NewID makes them, of event number n: later numbers have
// later times. kind, of two letters, tells ids of one number apart.
func numbered(n int, kind string) choir.ID {
	random := binary.BigEndian.AppendUint64([]byte(kind)[:2:2], uint64(n))
	id, err := choir.NewID(benchTime+choir.Time(n/10), bytes.NewReader(random))
	if err != nil {
		panic(err) // only too few random bytes can fail it
	}
	return id
}

// smallRun returns the payloads that the parts of the system append for one run with
// one task.
func smallRun(run, task choir.ID, n int) []choir.Payload {
	d := choir.DigestOf([]byte(strconv.Itoa(n)))
	doc := choir.DeriveID(run, "document")
	out := []choir.Payload{
		choir.PromptSubmitted{Text: "make the tests pass in the parser"},
		choir.DocumentCreated{Document: doc, Title: "Parser", Content: "# Parser\n"},
		choir.PlanMade{Goal: "tests pass", Steps: []choir.PlanStep{{ID: "1", Title: "fix", Kind: choir.TaskEditRepo, Instruction: "fix it", AcceptanceCriteria: []string{"green"}}}},
		choir.TaskDispatched{Task: choir.DirectorTask{Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "fix it"}, Step: "1"},
		choir.TaskStarted{Base: d, Attempt: 1},
	}
	for k := range 4 {
		call, tool := choir.DeriveID(run, "call", strconv.Itoa(k)), choir.DeriveID(run, "tool", strconv.Itoa(k))
		out = append(out,
			choir.ModelCalled{Call: call, Caller: "associate", Provider: "replay", Model: "m", Request: d},
			choir.ModelReturned{Call: call, Caller: "associate", Provider: "replay", Model: "m", Response: d, InputTokens: 900, OutputTokens: 90, CostUSD: 0.01, DurationMS: 700},
			choir.ToolCalled{Call: tool, Tool: "bash", Input: choir.ToolInput{Command: "go test ./..."}},
			choir.ToolReturned{Call: tool, OK: true, Output: strings.Repeat("ok  parser 0.1s\n", 8), DurationMS: 120},
		)
	}
	return append(out,
		choir.SnapshotTaken{Snapshot: d, Reason: "task_ended", Files: 100, Bytes: 100_000},
		choir.FileWritten{Files: []choir.FileState{{Path: "parser/file" + strconv.Itoa(n%200) + ".go", Kind: "file", Mode: 0o644, Size: 900, MTime: int64(n), Digest: d}}, Snapshot: d},
		choir.CheckpointCreated{Checkpoint: choir.DeriveID(run, "checkpoint"), Snapshot: d, Subject: "checkpoint", Trigger: "task", Verified: true},
		choir.TaskReturned{Result: choir.AssociateResult{
			Version: choir.ContractVersion, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: "fixed",
			FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
			Verify: choir.VerifyOutcome{Mode: choir.VerifySmoke, Status: choir.VerifyPass},
		}},
		choir.TaskJudged{Task: task, Step: "1", Verdict: choir.VerdictAccept, Criteria: []choir.CriterionMet{}, Reason: "green"},
		choir.DocumentVersioned{Document: doc, Version: 1, Content: "# Parser\n\nThe tests pass."},
		choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "done"},
	)
}
