package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/effects"
	"choiros/internal/computer/moments"
)

// Effects lists and answers results of tasks that wait for the owner; effects.Effects
// implements it.
type Effects interface {
	Count(ctx context.Context) (int, error)
	List(ctx context.Context) ([]effects.Waiting, error)
	Find(ctx context.Context, task choir.ID) (effects.Waiting, error)
	Diff(ctx context.Context, w effects.Waiting) (files []moments.FileDiff, inGit int, cut bool, err error)
	Approve(ctx context.Context, role choir.Role, task choir.ID) error
	Refuse(ctx context.Context, role choir.Role, task choir.ID, reason string) error
	Again(ctx context.Context, role choir.Role, task choir.ID) (again choir.ID, err error)
}

// Approval is a result of a task that waits for the owner, or waited. Instruction, summary and
// commands are of guests and models: untrusted.
type Approval struct {
	Task        choir.ID            `json:"task"`
	Run         choir.ID            `json:"run"`
	At          choir.Time          `json:"at" doc:"When it was held."`
	Project     string              `json:"project,omitempty"`
	Instruction string              `json:"instruction" doc:"What the task was to do; its beginning; untrusted."`
	Rules       []string            `json:"rules" doc:"Rules of choir.toml that demand the approval."`
	Files       int64               `json:"files" doc:"Files that it changes, outside of .git folders."`
	Added       int64               `json:"added" doc:"Lines that it adds."`
	Removed     int64               `json:"removed" doc:"Lines that it removes."`
	Tools       []string            `json:"tools" doc:"Tools that were called."`
	Commands    []ApprovalCommand   `json:"commands" doc:"Commands that ran; untrusted."`
	Hosts       []choir.EffectHost  `json:"hosts" doc:"Hosts that it wanted, as the control plane saw it."`
	MoreHosts   bool                `json:"more_hosts,omitempty" doc:"There are more hosts than are listed, or than the log has."`
	Verify      choir.VerifyOutcome `json:"verify" doc:"What the verification found."`
	Summary     string              `json:"summary" doc:"What the model says of it; its beginning; untrusted."`
	Answer      choir.EffectAnswer  `json:"answer,omitempty" enum:"approve,refuse,again" doc:"The owner's answer; absent while it waits."`
	Again       choir.ID            `json:"again,omitempty" doc:"Task that does it again, for the answer again."`
}

// ApprovalCommand is a command that ran.
type ApprovalCommand struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
}

// ApprovalList lists the results that wait.
type ApprovalList struct {
	Approvals []Approval `json:"approvals" doc:"The oldest first."`
}

// ApprovalView is one result with its change.
type ApprovalView struct {
	Approval
	Diff  []moments.FileDiff `json:"diff" doc:"What an approval changes in the workspace, hooks and settings in .git folders too."`
	InGit int                `json:"in_git,omitempty" doc:"Paths that it changes beside them: where git keeps its objects, branches and lists."`
	Cut   bool               `json:"cut,omitempty" doc:"There are more files."`
}

// ApprovalAnswer is the owner's answer.
type ApprovalAnswer struct {
	Answer choir.EffectAnswer `json:"answer" enum:"approve,refuse,again" doc:"Land it, refuse it, or have it done again on the workspace as it is now."`
	Reason string             `json:"reason,omitempty" maxLength:"2000" doc:"Why it is refused, for the Director."`
}

// approvals registers the routes of results that wait. All are for the owner only.
func (a *API) approvals(h huma.API) {
	const base = "/api/computers/{computer}/approvals"
	type ofTask struct {
		In
		Task choir.ID `path:"task"`
	}
	huma.Register(h, op("listApprovals", http.MethodGet, base, "List the results of tasks that wait for the owner's approval", 200),
		func(ctx context.Context, r *In) (*body[ApprovalList], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			waiting, err := c.Effects.List(ctx)
			out := ApprovalList{Approvals: []Approval{}}
			for _, w := range waiting {
				out.Approvals = append(out.Approvals, viewApproval(w))
			}
			return answer(out, err)
		})
	huma.Register(h, op("getApproval", http.MethodGet, base+"/{task}", "Read a result that waits, or waited, with its change", 200),
		func(ctx context.Context, r *ofTask) (*body[ApprovalView], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(readApproval(ctx, c, r.Task))
		})
	huma.Register(h, op("answerApproval", http.MethodPost, base+"/{task}", "Approve a result, which lands it, refuse it, or have it done again; 409 where the workspace moved on", 200),
		func(ctx context.Context, r *struct {
			In
			Task choir.ID `path:"task"`
			Body ApprovalAnswer
		}) (*body[ApprovalView], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			switch r.Body.Answer {
			case choir.EffectApprove:
				err = c.Effects.Approve(ctx, p.Role, r.Task)
			case choir.EffectRefuse:
				err = c.Effects.Refuse(ctx, p.Role, r.Task, strings.TrimSpace(r.Body.Reason))
			default:
				_, err = c.Effects.Again(ctx, p.Role, r.Task)
			}
			if err != nil {
				return nil, problem(err)
			}
			return answer(readApproval(ctx, c, r.Task))
		})
}

// readApproval returns the result of a task as its owner sees it.
func readApproval(ctx context.Context, c Computer, task choir.ID) (ApprovalView, error) {
	w, err := c.Effects.Find(ctx, task)
	if err != nil {
		return ApprovalView{}, err
	}
	v := ApprovalView{Approval: viewApproval(w)}
	v.Diff, v.InGit, v.Cut, err = c.Effects.Diff(ctx, w)
	return v, err
}

func viewApproval(w effects.Waiting) Approval {
	v := Approval{
		Task: w.Task.ID, Run: w.Task.Run, At: w.At, Project: w.Task.Task.Repo, Instruction: clipped(w.Task.Instruction),
		Rules: w.Held.Rules, Files: w.Held.Files, Added: w.Held.Added, Removed: w.Held.Removed, Tools: w.Held.Tools, Commands: []ApprovalCommand{},
		Hosts: w.Held.Hosts, MoreHosts: w.Held.MoreHosts, Verify: w.Held.Result.Verify, Summary: clipped(w.Held.Result.Summary), Answer: w.Task.Answer, Again: w.Task.Again,
	}
	for _, run := range w.Held.Result.CommandsRun {
		v.Commands = append(v.Commands, ApprovalCommand{Command: clipped(run.Command), ExitCode: run.ExitCode})
	}
	return v
}
