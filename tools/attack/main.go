// Command attack runs the red team's programs in test/attacks against one choir
// that it starts, and prints a line for each attack and last
// "N tried, N held, N broken". It fails when one is broken, or none was tried.
//
//	attack [-choir bin/choir] [NAME...]
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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var all attacks.Report
	err := attacks.Run(ctx, *choir, *corpus, flag.Args(), func(r attacks.Report) {
		fmt.Printf("== %s (%.1f s)\n", r.Name, r.Took.Seconds())
		r.Print(os.Stdout)
		all.Attempts = append(all.Attempts, r.Attempts...)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
	}
	if held := err == nil && all.Sum(os.Stdout); !held {
		stop()
		os.Exit(1)
	}
}
