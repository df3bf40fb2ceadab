// Command attack runs the red team's programs in test/attacks against one choir
// that it starts, and prints a line for each attack and last
// "N tried, N held, N broken". It fails when one is broken, or none was tried.
//
//	attack [-choir bin/choir] [-settings 'runtime.mode = "gvisor"'] [NAME...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"choiros/bench/attacks"
)

func main() {
	choir := flag.String("choir", "bin/choir", "the binary under attack")
	corpus := flag.String("corpus", attacks.Corpus, "folder of the programs")
	settings := flag.String("settings", "", "keys of choir's configuration, in TOML: the rung to attack")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var all attacks.Report
	err := attacks.Run(ctx, attacks.Plan{Choir: *choir, Corpus: *corpus, Names: flag.Args(), Settings: *settings}, func(r attacks.Report) {
		fmt.Printf("== %s (%.1f s)\n", r.Name, r.Took.Seconds())
		r.Print(os.Stdout)
		all.Add(r)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
	}
	if held := err == nil && all.Sum(os.Stdout); !held {
		stop()
		os.Exit(1)
	}
}
