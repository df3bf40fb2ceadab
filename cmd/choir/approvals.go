package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newApprovalsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "approvals [TASK]", Args: cobra.MaximumNArgs(1),
		Example: "  choir approvals\n  choir approvals TASK\n  choir approve TASK",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				if len(args) > 0 {
					return runApproval(ctx, a, cl, args[0])
				}
				return runApprovals(ctx, a, cl)
			})
		},
	}
}

func newApproveCommand(a *app) *cobra.Command {
	var again bool
	c := &cobra.Command{
		Use:     "approve TASK",
		Example: "  choir approvals\n  choir approve TASK\n  choir approve TASK --again",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.ApprovalAnswer{Answer: choir.EffectApprove}
			if again {
				req.Answer = choir.EffectAgain
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return answerApproval(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().BoolVar(&again, "again", false, "")
	return c
}

func newRefuseCommand(a *app) *cobra.Command {
	req := api.ApprovalAnswer{Answer: choir.EffectRefuse}
	c := &cobra.Command{
		Use:     "refuse TASK",
		Example: "  choir refuse TASK --because '{why}'",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return answerApproval(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().StringVar(&req.Reason, "because", "", "")
	return c
}

func runApprovals(ctx context.Context, a *app, c *client) error {
	var v api.ApprovalList
	if err := c.get(ctx, c.path("/approvals"), &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	a.sayNone(len(v.Approvals), "approvals.none")
	for _, w := range v.Approvals {
		a.printApproval(w)
	}
	return nil
}

func runApproval(ctx context.Context, a *app, c *client, task string) error {
	var v api.ApprovalView
	if err := c.get(ctx, c.path("/approvals/"+task), &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	a.printApproval(v.Approval)
	a.printf("\n")
	a.printDiff(api.DiffView{Files: v.Diff, Cut: v.Cut})
	if v.InGit > 0 {
		a.say("approvals.inGit", "n", v.InGit)
	}
	return nil
}

func answerApproval(ctx context.Context, a *app, c *client, task string, req api.ApprovalAnswer) error {
	var v api.ApprovalView
	if err := c.post(ctx, c.path("/approvals/"+task), req, &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	switch req.Answer {
	case choir.EffectApprove:
		a.say("approvals.approved", "n", v.Files)
	case choir.EffectRefuse:
		a.say("approvals.refused")
	default:
		a.say("approvals.again", "task", v.Again)
	}
	return nil
}

// printApproval prints a result without its change; the words of guests are untrusted.
func (a *printer) printApproval(v api.Approval) {
	state := a.sentence("approval.waits")
	if v.Answer != "" {
		state = a.sentence("approval.answered", "answer", a.term("answer", v.Answer))
	}
	a.say("approval.head", "task", v.Task, "state", state, "at", v.At.Std().Local().Format("2006-01-02 15:04:05"), "run", v.Run)
	line := func(name, text string) { a.printf("  %s  %s\n", a.label("approval", name), text) }
	line("task", cmp.Or(v.Project+": ", "")+v.Instruction)
	for _, rule := range v.Rules {
		line("rule", rule)
	}
	line("change", a.sentence("approval.change", "n", v.Files, "added", v.Added, "removed", v.Removed))
	for _, run := range v.Commands {
		line("command", a.sentence("approval.command", "command", run.Command, "code", run.ExitCode))
	}
	for _, h := range v.Hosts {
		key := "approval.notSent"
		switch {
		case h.Beside:
			key = "approval.beside"
		case h.Sent:
			key = "approval.reached"
		}
		line("host", a.sentence(key, "host", strings.TrimSuffix(hostPort(h.Host, h.Port), ":0")))
	}
	if v.MoreHosts {
		line("host", a.sentence("approval.moreHosts"))
	}
	for _, run := range v.Verify.Commands {
		line("check", a.sentence("approval.command", "command", run.Command, "code", run.ExitCode))
	}
	line("verified", words(a.term("verify", v.Verify.Status), string(v.Verify.Proves)))
}
