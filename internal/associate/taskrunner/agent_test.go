package taskrunner_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
	"choiros/internal/model"
)

func TestTheAgentWorksWithItsTools(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\ntwo\n"})
	both := use("read_file", `{"path":"a.txt"}`)
	both.Content = append(both.Content, model.Block{Kind: model.ToolCall, CallID: "c2", Tool: "bash", Input: json.RawMessage(`{"command":"echo hello; exit 4"}`)})
	l.model.responses = []model.Response{
		both,
		use("edit_file", `{"path":"a.txt","edits":[{"old":"two","new":"2"}]}`),
		use("write_file", `{"path":"b/new.txt","content":"new\n"}`),
		say("I changed two to 2."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Instruction: "Write digits", AcceptanceCriteria: []string{"no words"}})
	holds(t, r, choir.StatusOK, "")
	if l.read("workspace/app/a.txt") != "one\n2\n" || l.read("workspace/app/b/new.txt") != "new\n" || !strings.HasPrefix(r.Summary, "I changed two to 2.") {
		t.Errorf("%q, %s", l.read("workspace/app/a.txt"), r.Summary)
	}
	want := choir.TaskUsage{Model: "scripted", InputTokens: 400, OutputTokens: 40, CachedTokens: 200}
	got := r.Usage
	got.WallMS, got.CPUMS, got.MaxRSSBytes = 0, 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	answers := l.model.requests[1].Messages[2].Content
	if len(answers) != 2 || answers[0].Text != "    1\tone\n    2\ttwo\n" || answers[1].Text != "hello\n\n[exit code 4]" || !answers[1].IsError {
		t.Errorf("answers %+v", answers)
	}
	first := l.model.requests[0]
	if !strings.Contains(first.Messages[0].Content[0].Text, "Write digits\n\nIt will be judged by:\n- no words") || strings.Contains(first.System+first.Messages[0].Content[0].Text, l.dir) {
		t.Errorf("the request is %+v", first)
	}
	called, returned := of[choir.ToolCalled](t, l.log, r.TaskID), of[choir.ToolReturned](t, l.log, r.TaskID)
	if len(called) != 4 || len(returned) != 4 || called[1].Call != returned[1].Call || called[1].Input.Command != "echo hello; exit 4" || *returned[1].ExitCode != 4 || called[0].Writes || !called[1].Writes {
		t.Errorf("called %+v\nreturned %+v", called, returned)
	}
	if l.model.infos[0].Call != choir.DeriveID(r.TaskID, "model", "1") || l.model.infos[0].Caller != "associate" {
		t.Errorf("%+v", l.model.infos[0])
	}
}

// TestTheModelIsToldItsConditions: what verifies the task, its limits and the network, in the
// same words for equal tasks.
func TestTheModelIsToldItsConditions(t *testing.T) {
	t.Parallel()
	kept := ""
	if proctree.Confines() {
		kept = ".\nCommands may write in the task's folder and in $TMPDIR only, not in /tmp"
	}
	for _, c := range []struct {
		name string
		task choir.DirectorTask
		want string
	}{
		{"found", choir.DirectorTask{Kind: choir.TaskEditRepo}, "do it\n\nWhen you are done, it is verified:\n- make test\nWhere you change a project in a folder below, that project's check runs.\n" +
			"A check that fails comes back to you with its log, 3 times at most; then the task fails and everything is taken back.\n" +
			"You have 60 model calls, 300 s for commands and checks, 1800 s for your answers" + kept + ".\nThere is no network: nothing outside can be reached or downloaded. Use what is in the workspace and on this machine."},
		{"given", choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: edits("./check --all").VerifyProfile}, "verified:\n- ./check --all\nA check that"},
		{"none", choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified}, "do it\n\nYou have 60 model calls"},
		{"reads", choir.DirectorTask{Kind: choir.TaskInspect}, "nothing is changed.\n\nYou have 60 model calls, 300 s for commands and checks, 1800 s for your answers.\nThere"},
		{"budgets", choir.DirectorTask{Kind: choir.TaskRun, TimeBudgetS: 90, TokenBudget: 5000}, "60 model calls, 90 s for commands and checks, 1800 s for your answers and 5000 tokens" + kept + ".\n"},
		{"large", choir.DirectorTask{Kind: choir.TaskRun, TokenBudget: 1_987_654}, " and more than 200000 tokens" + kept + ".\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.repo(map[string]string{"Makefile": "test:\n\ttrue\n"})
			l.model.responses = []model.Response{say("Done.")}
			c.task.Repo = "app"
			l.do(c.task)
			if got := l.model.requests[0].Messages[0].Content[0].Text; !strings.Contains(got, c.want) {
				t.Errorf("it is told %q", got)
			}
		})
	}
}

// TestWhatTheModelSaysBesideItsCallsIsRecorded, bounded; its last words are the
// summary.
func TestWhatTheModelSaysBesideItsCallsIsRecorded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	silent := use("bash", `{"command":"true"}`)
	silent.Content = silent.Content[1:]
	long := use("bash", `{"command":"true"}`)
	long.Content[0].Text = " " + strings.Repeat("ü", 5000)
	l.model.responses = []model.Response{use("bash", `{"command":"true"}`), silent, long, say("Done.")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	want := []choir.TaskProgressed{{Kind: "progress", Text: "using bash"}, {Kind: "progress", Text: strings.Repeat("ü", 999) + "…"}}
	if diff := cmp.Diff(want, of[choir.TaskProgressed](t, l.log, r.TaskID)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(r.Summary, "Done.") {
		t.Errorf("the summary is %q", r.Summary)
	}
}

// TestALongConversationIsCompactedAndRecorded before it overflows: system prompt, tools and the
// first message stay as they were.
func TestALongConversationIsCompactedAndRecorded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 16 {
		l.model.responses = append(l.model.responses, use("bash", `{"command":"head -c 29000 /dev/zero | tr '\\0' x"}`))
	}
	l.model.responses = append(l.model.responses, say("Done."))
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	var told []string
	for _, p := range of[choir.TaskProgressed](t, l.log, r.TaskID) {
		if strings.Contains(p.Text, "compacted") {
			told = append(told, p.Text)
		}
	}
	if diff := cmp.Diff([]string{"The conversation was compacted from 408 to 177 KB: 8 old tool outputs left out."}, told); diff != "" {
		t.Error(diff)
	}
	first, last := l.model.requests[0], l.model.requests[16]
	if diff := cmp.Diff(first.Messages[0], last.Messages[0]); diff != "" || first.System != last.System || len(first.Tools) != len(last.Tools) {
		t.Errorf("the prefix changed: %s", diff)
	}
	if old := last.Messages[2].Content[0]; !strings.Contains(old.Text, "29000 bytes, left out to save room: the output of bash {") {
		t.Errorf("an old output is %q", old.Text)
	}
}

// TestTheModelSeesAnImageThatItReads, and the log has only what it is.
func TestTheModelSeesAnImageThatItReads(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"dot.gif": "GIF89a\x01\x00\x01\x00\x00\x00\x00;", "big.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 2_000_000)})
	l.model.responses = []model.Response{use("read_file", `{"path":"dot.gif"}`), use("read_file", `{"path":"big.png"}`), say("A dot.")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskInspect, Repo: "app"})
	holds(t, r, choir.StatusOK, "")
	answer := l.model.requests[1].Messages[2].Content[0]
	if want := []model.Image{{MediaType: "image/gif", Data: "R0lGODlhAQABAAAAADs="}}; cmp.Diff(want, answer.Images) != "" {
		t.Errorf("the model sees %+v", answer)
	}
	returned := of[choir.ToolReturned](t, l.log, r.TaskID)
	if returned[0].Output != "[dot.gif, image/gif, 14 bytes]" || returned[1].OK || returned[1].Code != choir.CodeTooLarge {
		t.Errorf("the log has %+v", returned)
	}
}

// TestTheModelsListOfStepsIsShownWhileItWorks: each list is an event.
func TestTheModelsListOfStepsIsShownWhileItWorks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	list := use("todo", `{"items":[{"text":"look\nat it","status":"done"},{"text":"mend it","status":"in_progress"},{"text":"say so","status":"pending"}]}`)
	list.Content = list.Content[1:]
	l.model.responses = []model.Response{list, use("todo", `{"items":[{"text":"x","status":"later"}]}`), say("Done.")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	want := []choir.TaskProgressed{{Kind: "progress", Text: "[x] look at it\n[~] mend it\n[ ] say so"}, {Kind: "progress", Text: "using todo"}}
	if diff := cmp.Diff(want, of[choir.TaskProgressed](t, l.log, r.TaskID)); diff != "" {
		t.Error(diff)
	}
	if wrong := l.model.requests[2].Messages[4].Content[0]; !wrong.IsError || !strings.Contains(wrong.Text, "items[0].status") {
		t.Errorf("the model was told %+v", wrong)
	}
}

func TestToolsOutsideTheTaskAreRefusedAndRecorded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/a", "1")
	l.model.responses = []model.Response{
		use("bash", `{"command":"touch /tmp/never"}`), use("teleport", `{}`), use("read_file", `{"path":"workspace/a","colour":"red"}`), say("It says 1."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskInspect, AllowedTools: []choir.Tool{"read_file", "bash"}})
	holds(t, r, choir.StatusOK, "")
	var codes []choir.Code
	for _, ret := range of[choir.ToolReturned](t, l.log, r.TaskID) {
		codes = append(codes, ret.Code)
	}
	if diff := cmp.Diff([]choir.Code{"refused", "refused", "invalid"}, codes); diff != "" {
		t.Error(diff)
	}
	if def := l.model.requests[0].Tools; len(def) != 2 || def[0].Name != "read_file" || def[1].Name != "done" {
		t.Errorf("offered %+v", def)
	}
	last := l.model.requests[3].Messages
	if text := last[len(last)-1].Content[0].Text; text != "colour is not a known field; there are limit, offset, path" {
		t.Errorf("the model was told %q", text)
	}
}

func TestHowTheLoopMayEnd(t *testing.T) {
	t.Parallel()
	many := func(r model.Response, n int) (out []model.Response) {
		for range n {
			out = append(out, r)
		}
		return out
	}
	cut := say("half an")
	cut.Stop = model.StopLength
	for _, c := range []struct {
		name      string
		task      choir.DirectorTask
		responses []model.Response
		err       error
		status    choir.Status
		code      choir.ResultCode
	}{
		{"refused again and again", choir.DirectorTask{Kind: choir.TaskRun}, many(use("write_file", `{"path":"x","content":""}`), 9), nil, choir.StatusFailed, choir.ResultToolRefused},
		{"refused, then gave up", choir.DirectorTask{Kind: choir.TaskEditRepo, AllowedTools: []choir.Tool{"read_file"}}, []model.Response{use("bash", `{"command":"x"}`), say("I cannot.")}, nil, choir.StatusFailed, choir.ResultToolRefused},
		{"wanted out", choir.DirectorTask{Kind: choir.TaskEditRepo, AllowedTools: []choir.Tool{"fetch_url"}}, []model.Response{use("fetch_url", `{"url":"https://example.com/x"}`), say("I cannot.")}, nil, choir.StatusFailed, choir.ResultEgressRefused},
		{"no progress", choir.DirectorTask{Kind: choir.TaskRun}, many(use("bash", `{"command":"exit 1"}`), 9), nil, choir.StatusFailed, choir.ResultLimit},
		{"steps", choir.DirectorTask{Kind: choir.TaskRun}, many(use("bash", `{"command":"true"}`), 99), nil, choir.StatusFailed, choir.ResultLimit},
		{"tokens", choir.DirectorTask{Kind: choir.TaskRun, TokenBudget: 150}, many(use("bash", `{"command":"true"}`), 9), nil, choir.StatusFailed, choir.ResultTokenBudget},
		{"cut off", choir.DirectorTask{Kind: choir.TaskRun}, []model.Response{cut}, nil, choir.StatusFailed, choir.ResultModelError},
		{"provider down", choir.DirectorTask{Kind: choir.TaskRun}, nil, choir.E("x", choir.CodeOverloaded, "over its limit"), choir.StatusFailed, choir.ResultModelError},
		{"budget of the run", choir.DirectorTask{Kind: choir.TaskRun}, nil, choir.E("x", choir.CodeBudget, "the run's tokens are used up"), choir.StatusFailed, choir.ResultTokenBudget},
		{"question", choir.DirectorTask{Kind: choir.TaskEditRepo}, []model.Response{use("write_file", `{"path":"x","content":"x"}`), use("ask_user", `{"text":"Which colour?","choices":["red"]}`)}, nil, choir.StatusNeedsInput, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			before := l.hash()
			l.model.responses, l.model.err = c.responses, c.err
			r := l.do(c.task)
			holds(t, r, c.status, c.code)
			if suggested := r.SuggestedNext != nil; suggested != (c.code != "" && c.code != choir.ResultModelError) {
				t.Errorf("of %q it suggests %v", c.code, r.SuggestedNext)
			}
			if l.hash() != before {
				t.Error("something of it remains")
			}
			if c.status == choir.StatusNeedsInput && (len(r.Questions) != 1 || r.Questions[0].Text != "Which colour?" || r.Diff == nil) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestLargeInputsAndOutputsGoToBlobs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	big, err := json.Marshal(map[string]string{"path": "artifacts/big", "content": strings.Repeat("\"line\"\n", 20_000)})
	if err != nil {
		t.Fatal(err)
	}
	l.model.responses = []model.Response{use("write_file", string(big)), use("bash", `{"command":"cat artifacts/big; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end"}`), say("done")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo})
	holds(t, r, choir.StatusOK, "")
	called, returned := of[choir.ToolCalled](t, l.log, r.TaskID), of[choir.ToolReturned](t, l.log, r.TaskID)
	if b, err := l.tree.store.GetBlob(context.Background(), called[0].Input.Blob); string(b) != string(big) || err != nil {
		t.Errorf("the input's blob has %d bytes, %v", len(b), err)
	}
	if out := returned[1]; !strings.HasSuffix(out.Output, "the end\n") || len(out.Output) > 31_000 || !out.Blob.Valid() {
		t.Errorf("%d bytes shown, blob %q", len(out.Output), out.Blob)
	}
	if r.Diff.Content != "" || !r.Diff.Blob.Valid() {
		t.Errorf("the diff has %d bytes inline, blob %q", len(r.Diff.Content), r.Diff.Blob)
	}
}

func TestAResultWithManyFilesFitsItsEvent(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified,
		Commands: sh(`mkdir workspace/many; cd workspace/many; i=0; while [ $i -lt 3000 ]; do : > a-rather-long-name-of-a-file-$i; i=$((i+1)); done`)})
	holds(t, r, choir.StatusOK, "")
	if len(r.FilesChanged) != 100 || !strings.Contains(r.Summary, "3000 files changed") || !r.Diff.Blob.Valid() {
		t.Errorf("%d files, %s", len(r.FilesChanged), r.Summary)
	}
}

// TestTheModelIsDoneInTheResponseOfItsLastCalls: one model call less, unless one of the calls fails.
func TestTheModelIsDoneInTheResponseOfItsLastCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	ending := func(command, words string) model.Response {
		r := use("bash", `{"command":`+quote(command)+`}`)
		r.Content = append(r.Content, model.Block{Kind: model.ToolCall, CallID: "c9", Tool: "done", Input: json.RawMessage(`{"summary":` + quote(words) + `}`)})
		return r
	}
	l.model.responses = []model.Response{
		ending("echo two > a.txt; grep -q three a.txt", "It is three."),
		ending("echo three > a.txt; grep -q three a.txt", "Now it is three."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Instruction: "Write three"})
	holds(t, r, choir.StatusOK, "")
	if got := l.read("workspace/app/a.txt"); got != "three\n" || !strings.HasPrefix(r.Summary, "Now it is three.") || len(l.model.requests) != 2 {
		t.Errorf("%q, %q, %d requests", got, r.Summary, len(l.model.requests))
	}
	told := l.model.requests[1].Messages[2].Content
	if len(told) != 2 || !told[1].IsError || !strings.HasPrefix(told[1].Text, "the work goes on: a call of bash") {
		t.Errorf("told %+v", told)
	}
	if called := of[choir.ToolCalled](t, l.log, r.TaskID); len(called) != 2 {
		t.Errorf("the log has the calls %+v", called)
	}
}

// quote returns a text as JSON.
func quote(s string) string {
	raw, _ := json.Marshal(s) // a string always can be
	return string(raw)
}
