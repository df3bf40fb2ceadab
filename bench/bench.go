// Package bench measures choir beside its peers, in the same run, sample by
// sample in turn.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"choiros/internal/choir"
)

// Options of a run.
type Options struct {
	Names  []string // what to measure; see Names
	Quick  bool     // few samples, to see that it runs
	Events int      // of the large log of log-size; 0 means as many as ANCHORS says
	// Image is an image of virtual machines, with which attacks attacks these too.
	Image string
	JSON  bool // one Row a line instead of a table
	Out   io.Writer
	// Dir is where the scratch folder is made, on the file system that is to be
	// measured; empty means /var/tmp, which is on a disk where /tmp may not be.
	Dir     string
	Version string
}

// benchmark measures something and gives its rows as they are finished.
type benchmark struct {
	name string
	run  func(ctx context.Context, l *lab, emit func(Row)) error
}

var benchmarks = []benchmark{
	{"tti", benchTTI},
	{"append", benchAppend},
	{"replay", benchReplay},
	{"log-size", benchLogSize},
	{"task", benchTask},
	{"snapshot", benchSnapshot},
	{"checkpoint", benchCheckpoint},
	{"toolcall", benchToolCall},
	{"copy", benchCopy},
	{"rewind", benchRewind},
	{"desk", benchDesk},
	{"pty", benchPTY},
	{"deliver", benchDeliver},
	{"desktop", benchDesktop},
	{"egress", benchEgress},
	{"model", benchModel},
	{"attacks", benchAttacks},
	{"density", benchDensity},
	{"wake", benchWake},
	{"neighbours", benchNeighbours},
	{"capacity", benchCapacity},
}

// Names lists the benchmarks.
func Names() []string {
	var out []string
	for _, b := range benchmarks {
		out = append(out, b.name)
	}
	return out
}

// Run runs benchmarks in the order given and reports whether every target that was
// measured was met. Everything it made is gone when it returns, also when the context
// ends. A benchmark that fails does not keep the others from running; the error tells
// of all. Code invalid: there is no such benchmark.
func Run(ctx context.Context, o Options) (met bool, err error) {
	var chosen []benchmark
	for _, name := range o.Names {
		at := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == name })
		if at < 0 {
			return false, choir.Invalid("name", "%q is no benchmark", name)
		}
		chosen = append(chosen, benchmarks[at])
	}
	met = true
	var failed []error
	for _, b := range chosen {
		m, err := runOne(ctx, b, o)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			failed = append(failed, err)
		}
		met = met && m
	}
	return met && len(failed) == 0, errors.Join(failed...)
}

// runOne gives a benchmark a lab of its own, so that none sees what another left.
func runOne(ctx context.Context, b benchmark, o Options) (met bool, err error) {
	l, err := newLab(o)
	if err != nil {
		return false, err
	}
	defer func() {
		if cerr := l.close(); err == nil {
			err = cerr
		}
	}()
	p := printer{out: o.Out, json: o.JSON}
	p.head(b.name)
	err = b.run(ctx, l, func(r Row) {
		r.Bench, r.Host, r.Versions = b.name, l.host(), l.versions
		r.judge()
		p.row(r)
	})
	if ctx.Err() != nil {
		return false, choir.Wrap("bench", choir.CodeCancelled, ctx.Err(), "%s was stopped", b.name)
	}
	return !p.lost && len(stillMissed(b.name, p.missed, p.met)) == 0, choir.Wrap("bench", "", err, "measure %s", b.name)
}

// printer writes rows and remembers which cases met their targets and which missed them.
type printer struct {
	out         io.Writer
	json        bool
	lost        bool // a row could not be written
	met, missed []string
}

func (p *printer) row(r Row) {
	switch {
	case r.Met == nil:
	case *r.Met:
		p.met = append(p.met, r.Case)
	default:
		p.missed = append(p.missed, r.Case)
	}
	if !p.json {
		io.WriteString(p.out, r.text())
		return
	}
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false) // targets are written with < and >
	if err := e.Encode(r); err != nil {
		p.lost = true // nobody reads any more
	}
}

func (p *printer) head(name string) {
	if !p.json {
		fmt.Fprintf(p.out, "%s\n", name)
	}
}
