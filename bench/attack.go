package bench

import (
	"context"
	"os"
	"strings"

	"choiros/bench/attacks"
	"choiros/internal/choir"
)

// benchAttacks runs the attacks of the repository against this binary: a row for each
// program, and one for all. A row's number is how many attacks were refused, of the N that
// were tried; its failures are the attacks that got through, or prove nothing.
func benchAttacks(ctx context.Context, l *lab, emit func(Row)) error {
	unmeasured := func(why string) error {
		emit(Row{Case: allAttacks, Unit: refusedUnit, Isolated: true, Skipped: why})
		return nil
	}
	corpus := findUpwards(attacks.Corpus, "lib.py")
	if corpus == "" {
		return unmeasured("there is no " + attacks.Corpus + " here: run it in the repository")
	}
	if why := l.cannotIsolate(ctx); why != "" {
		return unmeasured(why)
	}
	self, err := os.Executable()
	if err != nil {
		return choir.Wrap("bench.attacks", choir.CodeUnavailable, err, "find this binary")
	}
	var names []string
	if l.quick {
		names = []string{"files", "network"}
	}
	var all attacks.Report
	err = attacks.Run(ctx, self, corpus, names, func(r attacks.Report) {
		emit(attackRow(r.Name, r))
		all.Attempts = append(all.Attempts, r.Attempts...)
	})
	if err != nil {
		return choir.Wrap("bench.attacks", choir.CodeUnavailable, err, "attack a choir")
	}
	emit(attackRow(allAttacks, all))
	return nil
}

// allAttacks is the case of the row about the whole corpus, refusedUnit the unit of its
// number.
const (
	allAttacks  = "all"
	refusedUnit = "refused"
)

func attackRow(name string, r attacks.Report) Row {
	row := Row{Case: name, Unit: refusedUnit, N: len(r.Attempts), Failures: r.Broken(), Isolated: true}
	row.Median = float64(row.N - row.Failures)
	row.P95, row.P99 = row.Median, row.Median
	var broken []string
	for _, a := range r.Attempts {
		if a.Broken {
			broken = append(broken, a.Promise+": "+a.Detail)
		}
	}
	row.Failed = strings.Join(broken, "; ")
	return row
}
