package choirtest

import (
	"cmp"
	"encoding/json"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// mend changes a random struct so that it keeps the rules between its fields, which its
// tags cannot express. p is a pointer to the struct.
func mend(t *rapid.T, p any) {
	switch v := p.(type) {
	case *choir.Command:
		mendCommand(t, v)
	case *choir.EgressProfile:
		if v.Mode != choir.EgressAllowlist {
			v.Allowlist = nil
		}
	case *choir.DirectorTask:
		v.Repo = name(t, v.Repo)
		mendGit(v)
	case *choir.ModelBudget:
		if *v == (choir.ModelBudget{}) {
			v.Calls = 1
		}
	case *choir.PromptSubmitted:
		v.Repo = name(t, v.Repo)
	case *choir.PlanStep:
		v.Repo = name(t, v.Repo)
	case *choir.RepoAdded:
		v.Name = name(t, "x")
	case *choir.RepoExported:
		v.Name = name(t, "x")
	case *choir.TaskProgressed:
		if v.Kind == "request" {
			v.Request = "blocked"
		} else {
			v.Request = ""
		}
	case *choir.Proof:
		mendProof(v)
	case *choir.Diff:
		if v.Blob != "" {
			v.Content = ""
		}
	case *choir.AssociateResult:
		mendResult(v)
	case *choir.LogRepaired:
		v.From, v.To = min(v.From, v.To), max(v.From, v.To)
	case *choir.WindowShown:
		mendShown(v)
	case *choir.Draft:
		v.Type, v.Payload = typed(t)
	case *choir.Event:
		v.Type, v.Payload = typed(t)
	}
}

func mendProof(p *choir.Proof) {
	number, path, from := max(1, p.Number), cmp.Or(p.Path, "x"), max(1, p.From)
	switch *p = (choir.Proof{Kind: p.Kind}); p.Kind {
	case choir.ProofCheck, choir.ProofCommand, choir.ProofLog:
		p.Number = number
	case choir.ProofFile:
		p.From, p.To = from, from
		p.Path = path
	case choir.ProofDiff:
		p.Path = path
	}
}

func mendCommand(t *rapid.T, c *choir.Command) {
	if rapid.Bool().Draw(t, "shell") {
		c.Argv, c.Shell = nil, "true"
		return
	}
	c.Shell = ""
	if len(c.Argv) == 0 {
		c.Argv = []string{"true"}
	}
}

func mendGit(task *choir.DirectorTask) {
	if task.Kind != choir.TaskEditRepo {
		task.FromAttempt = ""
	}
	if task.Kind != choir.TaskEditRepo || task.Repo == "" || task.FromAttempt != "" {
		task.Worktree = false
	}
	if task.Kind != choir.TaskGit {
		task.GitAction, task.GitArgs, task.Trigger = "", nil, ""
		return
	}
	task.Commands = nil
	if task.GitAction == "" {
		task.GitAction = choir.GitStatus
	}
	if task.GitAction != choir.GitCheckpoint {
		task.Trigger = ""
	}
}

func mendResult(r *choir.AssociateResult) {
	if r.Verify.Status == choir.VerifyFail {
		r.Status = choir.StatusFailed
	}
	if r.Verify.Status == choir.VerifyPass {
		r.Verify.Suspect = nil
	}
	switch {
	case r.Status == choir.StatusOK:
		r.Code = ""
	case r.Status == choir.StatusFailed && r.Code == "":
		r.Code = choir.ResultCommandFailed
	}
}

func mendShown(w *choir.WindowShown) {
	shown := w.State
	if w.State == choir.WindowMinimised {
		shown = w.Was
	} else {
		w.Was = ""
	}
	if shown != choir.WindowSnapped {
		w.Snap = ""
	} else if w.Snap == "" {
		w.Snap = choir.SnapLeft
	}
}

// name returns "" for an empty given, else a random valid project name.
func name(t *rapid.T, given string) string {
	if given == "" {
		return ""
	}
	return rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,20}`).Draw(t, "name")
}

func typed(t *rapid.T) (choir.Type, json.RawMessage) {
	info := rapid.SampledFrom(choir.Types()).Draw(t, "type")
	raw, err := choir.Canonical(Payload(info).Draw(t, "payload"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Type, raw
}
