package main

import (
	"context"

	"github.com/spf13/cobra"

	"choiros/bench"
)

func newBenchCommand(a *app) *cobra.Command {
	var quick bool
	var dir, image string
	var events int
	c := &cobra.Command{
		Use: "bench NAME...", ValidArgs: bench.Names(),
		Example: "  choir bench append --json\n  choir bench tti append replay task snapshot checkpoint\n  choir bench desktop pty deliver --json   # {where}",
		Args:    cobra.OnlyValidArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return runBench(c.Context(), a, args, dir, image, events, quick)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "")
	c.Flags().StringVar(&dir, "dir", "", "")
	c.Flags().StringVar(&image, "image", "", "")
	c.Flags().IntVar(&events, "events", 0, "")
	return c
}

func runBench(ctx context.Context, a *app, names []string, dir, image string, events int, quick bool) error {
	met, err := bench.Run(ctx, bench.Options{Names: names, Quick: quick, Events: events, JSON: a.json, Out: a.out, Dir: dir, Image: image, Version: version})
	if err == nil && !met {
		err = exitError(1)
	}
	return err
}
