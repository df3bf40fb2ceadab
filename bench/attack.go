package bench

import (
	"context"
	"os"
	"strings"

	"choiros/bench/attacks"
	"choiros/internal/choir"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/microvm"
)

// benchAttacks runs the attacks of the repository against this binary: a row for each
// program on the rung local, one for all of them, and one for each other rung that this
// machine has; in virtual machines a short set, where there is an image of them. A row's number is how many attacks were refused, of the N that were tried; its
// failures are the attacks that got through, or prove nothing.
func benchAttacks(ctx context.Context, l *lab, emit func(Row)) error {
	unmeasured := func(name, why string) {
		emit(Row{Case: name, Unit: refusedUnit, Isolated: true, Skipped: why})
	}
	corpus := findUpwards(attacks.Corpus, "lib.py")
	if corpus == "" {
		unmeasured(allAttacks, "there is no "+attacks.Corpus+" here: run it in the repository")
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return choir.Wrap("bench.attacks", choir.CodeUnavailable, err, "find this binary")
	}
	plan := attacks.Plan{Choir: self, Corpus: corpus}
	if l.quick {
		plan.Names = []string{"files", "network"}
	}
	if why := l.cannotIsolate(ctx); why != "" {
		unmeasured(allAttacks, why)
	} else if err := attackRung(ctx, plan, allAttacks, func(r attacks.Report) { emit(attackRow(r.Name, r)) }, emit); err != nil {
		return err
	}
	for _, name := range attacks.RungNames {
		if l.quick && (name != microvm.Name || l.image == "") || name == local.Name {
			continue
		}
		rung := attacks.FindRung(ctx, name, l.dir, l.image)
		row := name + ", " + allAttacks
		if name == microvm.Name {
			row = name + ", the short set"
			plan.Names = attacks.ShortSet
		}
		if rung.Missing != "" {
			unmeasured(row, rung.Missing)
			continue
		}
		plan.Settings = rung.Settings
		if err := attackRung(ctx, plan, row, func(attacks.Report) {}, emit); err != nil {
			return err
		}
	}
	return nil
}

// attackRung attacks one choir, calls done with the report of each program, and emits a row
// about all of them.
func attackRung(ctx context.Context, plan attacks.Plan, name string, done func(attacks.Report), emit func(Row)) error {
	var all attacks.Report
	err := attacks.Run(ctx, plan, func(r attacks.Report) {
		done(r)
		all.Add(r)
	})
	if err != nil {
		return choir.Wrap("bench.attacks", choir.CodeUnavailable, err, "attack a choir")
	}
	emit(attackRow(name, all))
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
