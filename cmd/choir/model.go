package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/control/api"
)

func newModelCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "model", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newModelTestCommand(a))
	return c
}

func newModelTestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test [PROVIDER/MODEL]", Args: cobra.MaximumNArgs(1),
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
func (a *printer) printTested(m api.TestedModel) {
	a.printf("%s (%s)\n", m.Model, strings.Join(m.Roles, ", "))
	if m.Code != "" {
		a.printf("  %s\n", a.sentence("model.failed", "why", m.Error))
		if m.Remedy != "" {
			a.printf("  %s\n", m.Remedy)
		}
		return
	}
	for _, can := range []struct {
		what  string
		works bool
	}{{"tools", m.Tools}, {"streaming", m.Streaming}, {"images", m.Images}, {"thinking", m.Thinking}} {
		outcome := a.sentence("model.works")
		if !can.works {
			outcome = a.sentence("model.lacks", "why", a.term("modelLacks", can.what))
		}
		a.printf("  %s %s\n", a.label("model", can.what), outcome)
	}
	if len(m.LeftOut) > 0 {
		a.printf("  %s\n", a.sentence("model.refuses", "what", strings.Join(m.LeftOut, ", ")))
	}
	a.printf("  %s\n", a.sentence("model.spent", "seconds", a.decimal(float64(m.DurationMS)/1000, 1), "in", m.InputTokens, "out", m.OutputTokens, "cost", a.dollars(m.CostUSD)))
}
