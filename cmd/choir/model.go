package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/control/api"
)

func newModelCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "model", Short: "Ask the models in force what they can", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newModelTestCommand(a))
	return c
}

func newModelTestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test [PROVIDER/MODEL]", Short: "Ask each model in force, or one of them, one question, and say what works", Args: cobra.MaximumNArgs(1),
		Long: `Ask each model in force, fallbacks included, or one of them, one question: to look at an
image, to think, and to call a tool. It costs a few thousand tokens at most, which are in the
log of the computer and count in its budget.

Exit codes: 0 every model answered, 1 one did not, 5 no choir is running.`,
		Example: "  choir model test\n  choir model test claude/claude-sonnet-4-5",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.TestModelsRequest{Model: strings.Join(args, "")}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				req.Computer = cl.computer
				return runModelTest(ctx, a, cl, req)
			})
		},
	}
}

func runModelTest(ctx context.Context, a *app, c *client, req api.TestModelsRequest) error {
	var tested api.TestedModels
	if err := c.post(ctx, "/api/settings/models/test", req, &tested); err != nil {
		return err
	}
	failed := false
	for _, m := range tested.Models {
		failed = failed || m.Code != ""
	}
	if a.json {
		a.printJSON(tested)
	} else {
		for _, m := range tested.Models {
			a.printTested(m)
		}
	}
	if failed {
		return exitError(1)
	}
	return nil
}

// printTested prints what one model showed.
func (a *app) printTested(m api.TestedModel) {
	a.printf("%s (%s)\n", m.Model, strings.Join(m.Roles, ", "))
	if m.Code != "" {
		a.printf("  failed: %s\n", m.Error)
		if m.Remedy != "" {
			a.printf("  %s\n", m.Remedy)
		}
		return
	}
	for _, can := range []struct {
		what, not string
		works     bool
	}{
		{"tools", "it called none", m.Tools}, {"streaming", "its answer came in one piece", m.Streaming},
		{"images", "it did not see one", m.Images}, {"thinking", "it told none", m.Thinking},
	} {
		if can.works {
			a.printf("  %-9s works\n", can.what)
		} else {
			a.printf("  %-9s no: %s\n", can.what, can.not)
		}
	}
	if len(m.LeftOut) > 0 {
		a.printf("  its service refuses: %s\n", strings.Join(m.LeftOut, ", "))
	}
	a.printf("  %.1f s, %d tokens in, %d out, $%.4f\n", float64(m.DurationMS)/1000, m.InputTokens, m.OutputTokens, m.CostUSD)
}
