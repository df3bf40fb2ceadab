package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/timeline"
)

func newApprovalsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "approvals [TASK]", Short: "List the results that wait for your approval, or show one", Args: cobra.MaximumNArgs(1),
		Long: "List the results of tasks that wait for your approval, because a rule of [[approve]] in choir.toml\n" +
			"demands it. Nothing of them is in the workspace. With TASK, show its change, the commands that ran,\n" +
			"the hosts that it wanted and the verification.",
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
		Use: "approve TASK", Short: "Land a result that waits, exactly as it is",
		Long: "Bring the result of a task into the workspace, exactly as it is: nothing runs again. Where the\n" +
			"workspace moved on at one of its paths, nothing is changed; with --again another task does it\n" +
			"again, on the workspace as it is now. Open terminals end, with what runs in them.",
		Example: "  choir approvals\n  choir approve TASK\n  choir approve TASK --again",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.ApprovalAnswer{Answer: choir.EffectApprove}
			if again {
				req.Answer = choir.EffectAgain
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return answerApproval(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().BoolVar(&again, "again", false, "let another task do it again, on the workspace as it is now")
	return c
}

func newRefuseCommand(a *app) *cobra.Command {
	req := api.ApprovalAnswer{Answer: choir.EffectRefuse}
	c := &cobra.Command{
		Use: "refuse TASK", Short: "Refuse a result that waits; nothing of it is in the workspace",
		Example: "  choir refuse TASK --because 'keep the old name'",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return answerApproval(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().StringVar(&req.Reason, "because", "", "why, for the Director")
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
	if len(v.Approvals) == 0 {
		a.printf("Nothing waits for your approval.\n")
	}
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
		a.printf("and %s in .git folders\n", timeline.Count(v.InGit, "path"))
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
		a.printf("Approved: %s changed in the workspace.\n", timeline.Count(int(v.Files), "file"))
	case choir.EffectRefuse:
		a.printf("Refused; nothing of it is in the workspace.\n")
	default:
		a.printf("Task %s does it again.\n", v.Again)
	}
	return nil
}

// printApproval prints a result without its change; the words of guests are untrusted.
func (a *app) printApproval(v api.Approval) {
	state := "waits"
	if v.Answer != "" {
		state = "answered " + string(v.Answer)
	}
	a.printf("%s  %s since %s  run %s\n", v.Task, state, v.At.Std().Local().Format("2006-01-02 15:04:05"), v.Run)
	a.printf("  task      %s\n", cmp.Or(v.Project+": ", "")+v.Instruction)
	for _, rule := range v.Rules {
		a.printf("  rule      %s\n", rule)
	}
	a.printf("  change    %s, %d lines added, %d removed\n", timeline.Count(int(v.Files), "file"), v.Added, v.Removed)
	for _, run := range v.Commands {
		a.printf("  command   %s  (exit code %d)\n", run.Command, run.ExitCode)
	}
	for _, h := range v.Hosts {
		said := "not sent"
		if h.Sent {
			said = "reached"
		}
		a.printf("  host      %s  %s\n", strings.TrimSuffix(hostPort(h.Host, h.Port), ":0"), said)
	}
	a.printf("  verified  %s\n", strings.TrimSpace(fmt.Sprintf("%s %s", v.Verify.Status, v.Verify.Proves)))
}
