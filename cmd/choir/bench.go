package main

import (
	"context"

	"github.com/spf13/cobra"

	"choiros/bench"
)

func newBenchCommand(a *app) *cobra.Command {
	var quick bool
	var dir string
	var events int
	c := &cobra.Command{
		Use: "bench NAME...", Short: "Measure this machine beside the peers", ValidArgs: bench.Names(),
		Long:    "Measure, each beside its peer in the same run, sample by sample in turn.\nWith --json one object a line. Exit code 0 when every target that was measured was met, 1 when one was missed.",
		Example: "  choir bench append --json\n  choir bench tti append replay task snapshot checkpoint\n  choir bench desktop pty deliver --json   # in the repository, which drives the browser",
		Args:    cobra.OnlyValidArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runBench(c.Context(), a, args, dir, events, quick) },
	}
	c.Flags().BoolVar(&quick, "quick", false, "few samples, to see that it runs")
	c.Flags().StringVar(&dir, "dir", "", "where to make the scratch folder: on the file system that is to be measured (default /var/tmp)")
	c.Flags().IntVar(&events, "events", 0, "how many events the large log of log-size has (default 10000000)")
	return c
}

func runBench(ctx context.Context, a *app, names []string, dir string, events int, quick bool) error {
	met, err := bench.Run(ctx, bench.Options{Names: names, Quick: quick, Events: events, JSON: a.json, Out: a.out, Dir: dir, Version: version})
	if err == nil && !met {
		err = exitError(1)
	}
	return err
}
