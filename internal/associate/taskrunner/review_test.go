package taskrunner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// edits is a task that the given command checks.
func edits(check string) choir.DirectorTask {
	return choir.DirectorTask{Kind: choir.TaskEditRepo, Instruction: "Write it", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: sh(check)}}
}

func write(content string) model.Response {
	return use("write_file", `{"path":"workspace/a","content":"`+content+`"}`)
}

// lastText is the last text of the request with an index.
func (s *script) lastText(n int) string {
	m := s.requests[n].Messages
	blocks := m[len(m)-1].Content
	return blocks[len(blocks)-1].Text
}

// verifications are the calls under the name verify, and whether each was fine.
func (l *lab) verifications(task choir.ID) (fine []bool) {
	l.Helper()
	ended := map[choir.ID]bool{}
	for _, p := range of[choir.ToolReturned](l, l.log, task) {
		ended[p.Call] = p.OK
	}
	for _, p := range of[choir.ToolCalled](l, l.log, task) {
		if p.Tool == "verify" {
			fine = append(fine, ended[p.Call])
		}
	}
	return fine
}

// TestAFailedCheckGoesBackIntoTheConversation has a check that fails once and writes what
// is no part of the change.
func TestAFailedCheckGoesBackIntoTheConversation(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/a", "old")
	l.model.responses = []model.Response{write("worng"), say("I wrote it."), write("right"), say("I corrected a typo.")}
	r := l.do(edits("echo dropped > workspace/dropping; echo have $(cat workspace/a); grep -q right workspace/a"))
	holds(t, r, choir.StatusOK, "")
	if r.Verify.Status != choir.VerifyPass || len(r.Verify.Commands) != 1 || r.Summary != "I corrected a typo." || len(r.FilesChanged) != 1 || l.read("workspace/a") != "right" {
		t.Errorf("verify %+v, summary %q, files %v, %q", r.Verify, r.Summary, r.FilesChanged, l.read("workspace/a"))
	}
	told := l.model.lastText(2)
	if !strings.HasPrefix(told, "verification failed: echo dropped") || !strings.Contains(told, "(exit code 1)\n\nhave worng\n") || !strings.Contains(told, "round 1 of 3") {
		t.Errorf("the model was told %q", told)
	}
	if same := l.model.requests[2].Messages; len(same) != 5 || same[3].Content[0].Text != "I wrote it." {
		t.Errorf("the conversation is %+v", same)
	}
	if got := l.verifications(r.TaskID); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("the log has the checks %v", got)
	}
	if got := of[choir.TaskProgressed](t, l.log, r.TaskID); len(got) != 3 || !strings.HasSuffix(got[1].Text, "round 1 of 3") {
		t.Errorf("people are told %+v", got)
	}
	if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp) != 1 || !cp[0].Verified {
		t.Errorf("checkpoints %+v", cp)
	}
}

func TestACheckThatFailsInEveryRoundFailsTheTask(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/a", "old")
	before := l.hash()
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		l.model.responses = append(l.model.responses, write(n), say("Now it is "+n+"."))
	}
	r := l.do(edits("cat workspace/a; exit 1"))
	holds(t, r, choir.StatusFailed, choir.ResultVerifyFailed)
	if got := l.verifications(r.TaskID); len(got) != 1+choir.VerifyRounds || len(l.model.requests) != 8 {
		t.Errorf("%d checks, %d model calls", len(got), len(l.model.requests))
	}
	if !strings.Contains(l.model.lastText(6), "If the check fails once more, everything is taken back.") || strings.Contains(l.model.lastText(4), "once more") {
		t.Errorf("before the last round it was told %q", l.model.lastText(6))
	}
	if l.hash() != before || r.Diff == nil || !strings.Contains(r.Diff.Content, "+4") || r.Verify.Log != "4" {
		t.Errorf("changed %v, diff %+v, log %q", l.hash() != before, r.Diff, r.Verify.Log)
	}
}

// TestAModelThatGivesUpIsNotCheckedAgain has it change nothing after a failed check.
func TestAModelThatGivesUpIsNotCheckedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := l.hash()
	l.model.responses = []model.Response{write("x"), say("Done."), say("I cannot mend it.")}
	r := l.do(edits("false"))
	holds(t, r, choir.StatusFailed, choir.ResultVerifyFailed)
	if got := l.verifications(r.TaskID); len(got) != 1 || l.hash() != before || r.Verify.Status != choir.VerifyFail {
		t.Errorf("checks %v, changed %v, %+v", got, l.hash() != before, r.Verify)
	}
}

// TestAQuestionAfterAFailedCheckIsAsked ends a task that has failed a check with a question.
func TestAQuestionAfterAFailedCheckIsAsked(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.model.responses = []model.Response{write("x"), say("Done."), use("ask_user", `{"text":"Which one?"}`)}
	r := l.do(edits("false"))
	holds(t, r, choir.StatusNeedsInput, "")
	if r.Verify.Status != choir.VerifyUnknown {
		t.Errorf("verify %+v", r.Verify)
	}
}

// TestWithoutAModelACheckFailsAtOnce: nobody is there to mend it.
func TestWithoutAModelACheckFailsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	task := edits("false")
	task.Commands = sh("echo > workspace/a")
	r := l.do(task)
	holds(t, r, choir.StatusFailed, choir.ResultVerifyFailed)
	if len(l.verifications(r.TaskID)) != 0 || len(r.Verify.Commands) != 1 {
		t.Errorf("%+v", r.Verify)
	}
}

// TestNoCheckRunsTwiceOnOneTreeWhereverItIsKilled ends the Associate before each event of a
// task whose check fails twice, and takes the task up again.
func TestNoCheckRunsTwiceOnOneTreeWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	step := 1
	if testing.Short() {
		step = 5
	}
	for n, ended := 1, false; !ended; n += step {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			ended = killedBefore(t, n)
			if ended && n < 15 {
				t.Errorf("the task has only %d appends", n)
			}
		})
	}
}

// killedBefore reports whether the task ends before its append n, at which it is killed else.
func killedBefore(t *testing.T, n int) bool {
	l := newLab(t)
	l.write("workspace/a", "old")
	seen := filepath.Join(t.TempDir(), "seen")
	l.model.byConversation = true
	l.model.responses = []model.Response{write("1"), say("One."), write("2"), say("Two."), write("right"), say("Right.")}
	before, appends := l.hash(), 0
	l.log.fail = func(choir.Draft) error {
		if appends++; appends >= n {
			return errGone
		}
		return nil
	}
	ev := l.dispatch(edits("cat workspace/a >> " + seen + "; echo >> " + seen + "; grep -q right workspace/a"))
	err := l.runner.Do(context.Background(), context.Background(), ev)
	if err == nil {
		return true
	}
	if !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	l.runner.Close()
	l.log.fail = nil
	l.start()
	r := l.run(context.Background(), ev)
	ran, _ := os.ReadFile(seen)
	lines := strings.Fields(string(ran))
	once := slices.Compact(slices.Sorted(slices.Values(lines)))
	again := r.Code == "" // nothing had happened yet
	if len(once) != len(lines) || again && !slices.Equal(lines, []string{"1", "2", "right"}) {
		t.Errorf("the check saw %v", lines)
	}
	if !again && (r.Code != choir.ResultCrashed || l.hash() != before) {
		t.Errorf("%s, changed %v", r.Code, l.hash() != before)
	}
	return false
}
