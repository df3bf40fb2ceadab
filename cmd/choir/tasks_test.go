package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// office is a machine that is up, for the tests of tasks.
type office struct {
	*machine
	c   *client
	pid int // of the control plane
}

func openOffice(t *testing.T) *office {
	t.Helper()
	return openOfficeWith(t, "")
}

// openOfficeWith is openOffice with more settings.
func openOfficeWith(t *testing.T, settings string) *office {
	t.Helper()
	m := newMachine(t, "[limits]\nprompt_burst = 1000\n"+settings)
	r := m.up()
	c := m.client()
	r.healthy()
	return &office{m, c, r.cmd.Process.Pid}
}

// in is the same office in the hands of a part of the test.
func (o *office) in(t *testing.T) *office {
	m := *o.machine
	m.t = t
	return &office{&m, o.c, o.pid}
}

// add brings a project in.
func (o *office) add(t *testing.T, name string, f files) {
	t.Helper()
	o.must("repo", "add", f.repo(t, name))
}

// task submits a task through the command line.
func (o *office) task(t *testing.T, task string) (choir.AssociateResult, ran) {
	t.Helper()
	r := o.runWith(task, "task", "-")
	var result choir.AssociateResult
	if r.out != "" {
		if err := json.Unmarshal([]byte(r.out), &result); err != nil {
			t.Fatalf("exit code %d: %v\n%s%s", r.code, err, r.out, r.errOut)
		}
	}
	return result, r
}

// ends submits a task that must end so.
func (o *office) ends(t *testing.T, task string, exit int, status choir.Status, code choir.ResultCode) choir.AssociateResult {
	t.Helper()
	result, r := o.task(t, task)
	if r.code != exit || result.Status != status || result.Code != code {
		t.Fatalf("exit code %d, %s %s, want %d, %s %s\n%s%s", r.code, result.Status, result.Code, exit, status, code, r.out, r.errOut)
	}
	return result
}

// shellTask is a deterministic task of one shell command; more holds further
// fields.
func shellTask(kind, repo, shell, more string) string {
	return fmt.Sprintf(`{"kind":%q,"repo":%q,"instruction":"Do it.","commands":[{"shell":%q}]%s}`, kind, repo, shell, more)
}

func paths(changes []choir.FileChange) []string {
	var out []string
	for _, c := range changes {
		out = append(out, string(c.Change)+" "+c.Path)
	}
	slices.Sort(out)
	return out
}

const noVerify = `,"verify_profile":{"mode":"none"}`

// TestTasks holds the rules of CONTRACTS.md for tasks against a computer that
// is really there.
func TestTasks(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.add(t, "plain", files{"README.md": "# plain\n", ".gitignore": "build/\n", "tool.sh!": "#!/bin/sh\necho tool\n"})
	t.Run("run and inspect change nothing", o.changeNothing)
	t.Run("an edit is kept, unverified", o.editUnverified)
	t.Run("time budget", o.timeBudget)
	t.Run("conditions", o.conditions)
	t.Run("redelivered", o.redelivered)
	t.Run("the diff applies", o.diffApplies)
	t.Run("a nested repository", o.nested)
	t.Run("a project full of history", o.fullOfHistory)
	t.Run("thousands of files", o.many)
	t.Run("refused", o.refused)
}

func (o *office) changeNothing(t *testing.T) {
	o = o.in(t)
	for _, kind := range []string{"run", "inspect"} {
		was := exact(t, o.workspace())
		r := o.ends(t, shellTask(kind, "plain", "echo said; echo more >> README.md; echo x > new.txt; rm tool.sh", ""), 0, choir.StatusOK, "")
		sameTree(t, was, exact(t, o.workspace()))
		want := []string{"added workspace/plain/new.txt", "deleted workspace/plain/tool.sh", "modified workspace/plain/README.md"}
		if got := paths(r.FilesChanged); !slices.Equal(got, want) {
			t.Errorf("%s reports %q, want %q", kind, got, want)
		}
		if len(r.CommandsRun) != 1 || r.CommandsRun[0].StdoutTail != "said\n" || r.CommandsRun[0].ExitCode != 0 {
			t.Errorf("%s ran %+v", kind, r.CommandsRun)
		}
	}
	r := o.ends(t, shellTask("run", "plain", "mkdir -p build && echo cached > build/out", ""), 0, choir.StatusOK, "")
	if !slices.Equal(r.IgnoredFiles, []string{"workspace/plain/build/out"}) || len(r.FilesChanged) > 0 {
		t.Errorf("ignored %q, changed %q", r.IgnoredFiles, paths(r.FilesChanged))
	}
	if raw, err := os.ReadFile(filepath.Join(o.at("plain"), "build/out")); err != nil || string(raw) != "cached\n" {
		t.Errorf("what git ignores is gone: %q, %v", raw, err)
	}
	// A rename into what git ignores is half a deletion.
	r = o.ends(t, shellTask("run", "plain", "mv tool.sh build/", ""), 0, choir.StatusOK, "")
	if got := paths(r.FilesChanged); !slices.Equal(got, []string{"deleted workspace/plain/tool.sh"}) || !slices.Equal(r.IgnoredFiles, []string{"workspace/plain/build/tool.sh"}) {
		t.Errorf("ignored %q, changed %q", r.IgnoredFiles, got)
	}
	for _, name := range []string{"tool.sh", "build/tool.sh"} {
		if _, err := os.Stat(filepath.Join(o.at("plain"), name)); err != nil {
			t.Error(err)
		}
	}
}

func (o *office) editUnverified(t *testing.T) {
	o = o.in(t)
	head := o.gitAt("plain", "rev-parse", "HEAD")
	r := o.ends(t, shellTask("edit_repo", "plain", "echo edited >> README.md", noVerify), 0, choir.StatusOK, "")
	if r.Verify.Status != choir.VerifyUnknown || r.Checkpoint == nil || !slices.Equal(paths(r.FilesChanged), []string{"modified workspace/plain/README.md"}) {
		t.Fatalf("verification %s, checkpoint %v, changed %q", r.Verify.Status, r.Checkpoint, paths(r.FilesChanged))
	}
	if got := strings.TrimSpace(o.gitAt("plain", "rev-parse", "HEAD")); got != *r.Checkpoint || got == strings.TrimSpace(head) {
		t.Errorf("HEAD is %s, the checkpoint %s", got, *r.Checkpoint)
	}
	message := o.gitAt("plain", "log", "-1", "--format=%B")
	for _, want := range []string{"checkpoint: ", "Choir-Seq: ", "Choir-Run: " + string(r.RunID), "Choir-Task: " + string(r.TaskID)} {
		if !strings.Contains(message, want) {
			t.Errorf("the commit does not say %q:\n%s", want, message)
		}
	}
	if status := o.gitAt("plain", "status", "--porcelain"); status != "" {
		t.Errorf("after the checkpoint: %s", status)
	}
	r = o.ends(t, `{"kind":"git","repo":"plain","instruction":"Look.","git_action":"git_status"}`, 0, choir.StatusOK, "")
	if r.Checkpoint != nil || len(r.FilesChanged) > 0 {
		t.Errorf("git_status did something: %+v", r)
	}
	was := exact(t, o.workspace())
	r = o.ends(t, shellTask("edit_repo", "plain", "echo half > half.txt; exit 3", ""), 1, choir.StatusFailed, choir.ResultCommandFailed)
	if r.CommandsRun[0].ExitCode != 3 || r.Diff == nil || !strings.Contains(r.Diff.Content, "half.txt") {
		t.Errorf("the attempt cannot be read: %+v", r)
	}
	sameTree(t, was, exact(t, o.workspace()))
}

func (o *office) timeBudget(t *testing.T) {
	o = o.in(t)
	// A number no other process has among its arguments.
	mark := strconv.FormatInt(time.Now().UnixNano(), 10)
	was := exact(t, o.workspace())
	script := fmt.Sprintf("echo begun; echo half > half.txt; setsid sh -c 'trap \"\" TERM HUP; sleep %[1]s & setsid sleep %[1]s & wait' & trap '' TERM; sleep %[1]s", mark)
	r := o.ends(t, shellTask("edit_repo", "plain", script, `,"time_budget_s":1`), 1, choir.StatusFailed, choir.ResultTimeBudget)
	if len(r.CommandsRun) != 1 || r.CommandsRun[0].StdoutTail != "begun\n" || r.CommandsRun[0].Signal == "" {
		t.Errorf("the log of what it did is lost: %+v", r.CommandsRun)
	}
	if left := processesWith(t, mark); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	sameTree(t, was, exact(t, o.workspace()))
}

// processesWith lists the processes that have a word among their arguments.
func processesWith(t *testing.T, word string) []string {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range found {
		// One that has ended meanwhile has no arguments.
		if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), word) {
			out = append(out, path+" "+strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return out
}

func (o *office) conditions(t *testing.T) {
	o = o.in(t)
	head := strings.TrimSpace(o.gitAt("plain", "rev-parse", "HEAD"))
	was := exact(t, o.workspace())
	for name, c := range map[string]struct {
		more string
		exit int
		code choir.ResultCode
	}{
		"a commit that is not here":    {`,"base_ref":"` + strings.Repeat("ab", 20) + `"`, 1, choir.ResultStaleBase},
		"a commit that is not current": {`,"base_ref":"HEAD~1"`, 1, choir.ResultStaleBase},
		"another snapshot":             {`,"base_ref":"` + strings.Repeat("ab", 32) + `"`, 1, choir.ResultStaleBase},
		"packages from the network":    {`,"egress_profile":{"mode":"git+pkg"}`, 4, choir.ResultEgressRefused},
		"a host":                       {`,"egress_profile":{"mode":"allowlist","allowlist":[{"host":"example.com"}]}`, 4, choir.ResultEgressRefused},
	} {
		t.Run(name, func(t *testing.T) {
			r := o.ends(t, shellTask("edit_repo", "plain", "echo no >> README.md", c.more), c.exit, choir.StatusFailed, c.code)
			if len(r.CommandsRun) > 0 {
				t.Errorf("it ran %+v", r.CommandsRun)
			}
		})
	}
	o.ends(t, shellTask("run", "plain", "true", `,"base_ref":"`+head+`","egress_profile":{"mode":"none"}`), 0, choir.StatusOK, "")
	o.ends(t, shellTask("run", "nowhere", "true", ""), 1, choir.StatusFailed, choir.ResultInvalidTask)
	r := o.ends(t, `{"kind":"run","repo":"plain","instruction":"Wait.","commands":[{"shell":"echo begun; sleep 60","timeout_s":1}]}`, 1, choir.StatusFailed, choir.ResultCommandFailed)
	if !strings.HasPrefix(r.CommandsRun[0].StdoutTail, "begun") {
		t.Errorf("a command's own limit loses its output: %+v", r.CommandsRun)
	}
	sameTree(t, was, exact(t, o.workspace()))
}

func (o *office) redelivered(t *testing.T) {
	o = o.in(t)
	first := o.ends(t, shellTask("edit_repo", "plain", "cat /proc/sys/kernel/random/uuid | tee -a uuids.txt", noVerify), 0, choir.StatusOK, "")
	again := shellTask("edit_repo", "plain", "cat /proc/sys/kernel/random/uuid | tee -a uuids.txt", noVerify+fmt.Sprintf(`,"task_id":%q,"run_id":%q`, first.TaskID, first.RunID))
	was, events := exact(t, o.workspace()), len(o.c.log(t))
	second := o.ends(t, again, 0, choir.StatusOK, "")
	if second.CommandsRun[0].StdoutTail != first.CommandsRun[0].StdoutTail || *second.Checkpoint != *first.Checkpoint {
		t.Errorf("the second delivery ran: %q, then %q", first.CommandsRun[0].StdoutTail, second.CommandsRun[0].StdoutTail)
	}
	sameTree(t, was, exact(t, o.workspace()))
	if n := len(o.c.log(t)); n != events {
		t.Errorf("the second delivery appended %d events", n-events)
	}
}

func (o *office) diffApplies(t *testing.T) {
	o = o.in(t)
	project := files{"old name.txt": strings.Repeat("a line\n", 20), "run.sh": "#!/bin/sh\n", "end.txt": "a\nb\n", "gone.txt": "gone\n", "binary": "\x00\x01\x02"}
	source := project.repo(t, "diffs")
	o.must("repo", "add", source)
	script := `git mv 'old name.txt' 'new näme.txt' && echo tail >> 'new näme.txt' && chmod +x run.sh && printf 'a\nb\nno end' > end.txt &&
		rm gone.txt && printf '\377\000\001' > binary && mkdir deep && printf 'x' > deep/added && ln -s end.txt link`
	r := o.ends(t, shellTask("edit_repo", "diffs", script, noVerify+`,"return":{"diff":true,"diff_format":"unified"}`), 0, choir.StatusOK, "")
	if r.Diff == nil || r.Diff.Content == "" {
		t.Fatalf("there is no diff: %s", r.Summary)
	}
	diff := filepath.Join(t.TempDir(), "change.diff")
	if err := os.WriteFile(diff, []byte(r.Diff.Content), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, source, "apply", "--index", diff)
	if got, want := gitIn(t, source, "write-tree"), o.gitAt("diffs", "rev-parse", "HEAD^{tree}"); got != want {
		t.Errorf("applied it gives tree %s, the checkpoint has %s\n%s", got, want, r.Diff.Content)
	}
}

func (o *office) nested(t *testing.T) {
	o = o.in(t)
	source := files{"README.md": "outer\n"}.repo(t, "outer")
	inner := files{"inner.txt": "inner\n"}.repo(t, "inner")
	if err := os.Rename(inner, filepath.Join(source, "inner")); err != nil {
		t.Fatal(err)
	}
	o.must("repo", "add", source)
	was := exact(t, o.workspace())
	script := "echo changed > inner/inner.txt && cd inner && git add -A && git -c user.name=x -c user.email=x@x commit -qm changed && git branch more && cd .. && rm -rf .git && exit 1"
	r := o.ends(t, shellTask("edit_repo", "outer", script, ""), 1, choir.StatusFailed, choir.ResultCommandFailed)
	sameTree(t, was, exact(t, o.workspace()))
	if !slices.Contains(paths(r.FilesChanged), "modified workspace/outer/inner/inner.txt") {
		t.Errorf("changed %q", paths(r.FilesChanged))
	}
	r = o.ends(t, shellTask("edit_repo", "outer", "echo kept > inner/inner.txt", noVerify), 0, choir.StatusOK, "")
	if got := o.gitAt("outer/inner", "show", "HEAD:inner.txt"); got != "kept\n" || r.Checkpoint == nil {
		t.Errorf("the nested repository has %q, checkpoint %v", got, r.Checkpoint)
	}
}

func (o *office) refused(t *testing.T) {
	o = o.in(t)
	before := len(o.c.log(t))
	for _, c := range []struct{ name, task, field string }{
		{"no JSON", `{`, ""},
		{"a list", `[]`, ""},
		{"two values", shellTask("run", "plain", "true", "") + "{}", ""},
		{"an unknown field", shellTask("run", "plain", "true", `,"colour":1`), "colour"},
		{"a field twice", shellTask("run", "plain", "true", `,"kind":"run"`), "kind"},
		{"no kind", `{"instruction":"x"}`, "kind"},
		{"another kind", shellTask("explode", "plain", "true", ""), "kind"},
		{"another version", shellTask("run", "plain", "true", `,"version":2`), "version"},
		{"no instruction", `{"kind":"run","commands":[{"shell":"true"}]}`, "instruction"},
		{"a long instruction", `{"kind":"run","instruction":"` + strings.Repeat("x", 20_001) + `"}`, "instruction"},
		{"a criterion too long", shellTask("run", "plain", "true", `,"acceptance_criteria":["`+strings.Repeat("x", 2001)+`"]`), "acceptance_criteria[0]"},
		{"an id that is none", shellTask("run", "plain", "true", `,"task_id":"x"`), "task_id"},
		{"a run id that is none", shellTask("run", "plain", "true", `,"run_id":7`), "run_id"},
		{"a path for a project", shellTask("run", "../plain", "true", ""), "repo"},
		{"git without an action", `{"kind":"git","instruction":"x"}`, "git_action"},
		{"an action without git", shellTask("run", "plain", "true", `,"git_action":"git_status"`), "git_action"},
		{"an unknown action", `{"kind":"git","instruction":"x","git_action":"git_push"}`, "git_action"},
		{"an unknown tool", shellTask("run", "plain", "true", `,"allowed_tools":["read_file","sudo"]`), "allowed_tools[1]"},
		{"an unknown profile", shellTask("run", "plain", "true", `,"egress_profile":{"mode":"all"}`), "egress_profile.mode"},
		{"a list without its mode", shellTask("run", "plain", "true", `,"egress_profile":{"mode":"none","allowlist":[{"host":"x"}]}`), "egress_profile.allowlist"},
		{"a port out of range", shellTask("run", "plain", "true", `,"egress_profile":{"mode":"allowlist","allowlist":[{"host":"x","port":70000}]}`), "egress_profile.allowlist[0].port"},
		{"an unknown verification", shellTask("run", "plain", "true", `,"verify_profile":{"mode":"thorough"}`), "verify_profile.mode"},
		{"a check without command", shellTask("run", "plain", "true", `,"verify_profile":{"mode":"smoke","commands":[{"cwd":"x"}]}`), "verify_profile.commands[0].argv"},
		{"a command of both kinds", `{"kind":"run","instruction":"x","commands":[{"shell":"true"},{"argv":["true"],"shell":"true"}]}`, "commands[1].argv"},
		{"a budget of nothing", shellTask("run", "plain", "true", `,"time_budget_s":-1`), "time_budget_s"},
		{"a budget of days", shellTask("run", "plain", "true", `,"time_budget_s":86401`), "time_budget_s"},
		{"a budget in words", shellTask("run", "plain", "true", `,"time_budget_s":"long"`), "time_budget_s"},
		{"another diff", shellTask("run", "plain", "true", `,"return":{"diff_format":"context"}`), "return.diff_format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := o.runWith(c.task, "task", "-", "--json")
			var p api.Problem
			if err := json.Unmarshal([]byte(r.out), &p); err != nil || r.code != 2 {
				t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.out, r.errOut)
			}
			if c.field != "" && p.Field != c.field || p.Code != choir.CodeInvalid && p.Code != choir.CodeTooLarge {
				t.Errorf("refused %q (%s): %s; want %q", p.Field, p.Code, p.Detail, c.field)
			}
			if !strings.Contains(r.errOut, c.field) {
				t.Errorf("the message does not name %s: %s", c.field, r.errOut)
			}
		})
	}
	if n := len(o.c.log(t)); n != before {
		t.Errorf("refused tasks left %d events", n-before)
	}
}

// many changes more files than a message can name: as the task's own work, and as
// what git ignores, which stays.
func (o *office) many(t *testing.T) {
	o = o.in(t)
	o.add(t, "many", files{".gitignore": "build/\n"})
	script := func(dir string) string {
		return "mkdir " + dir + " && cd " + dir + " && seq 5000 | split -l 1 -a 4 - " + strings.Repeat("x", 200)
	}
	r := o.ends(t, shellTask("edit_repo", "many", script("src"), noVerify), 0, choir.StatusOK, "")
	if r.Checkpoint == nil || !strings.Contains(r.Summary, "5000 files changed") {
		t.Errorf("checkpoint %v: %s", r.Checkpoint, r.Summary)
	}
	was := exact(t, filepath.Join(o.workspace(), "workspace", "many", "src"))
	o.ends(t, shellTask("run", "many", script("build")+" && rm -rf ../src", ""), 0, choir.StatusOK, "")
	sameTree(t, was, exact(t, filepath.Join(o.workspace(), "workspace", "many", "src")))
	kept, err := os.ReadDir(filepath.Join(o.workspace(), "workspace", "many", "build"))
	if err != nil || len(kept) != 5000 {
		t.Errorf("%d ignored files are there: %v", len(kept), err)
	}
}
