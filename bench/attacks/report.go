package attacks

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Attempt is one attack on a promise.
type Attempt struct {
	Promise, Detail string
	Broken          bool
}

// Report is the attempts of the program with a name, or of all programs together.
type Report struct {
	Name     string
	Took     time.Duration
	Attempts []Attempt
	// Limits are promises that this rung of the isolation ladder does not make, each with the
	// reason. They are not tried.
	Limits []string
}

// Add adds the attempts and limits of another report.
func (r *Report) Add(o Report) {
	r.Attempts, r.Limits = append(r.Attempts, o.Attempts...), append(r.Limits, o.Limits...)
}

// Broken returns the number of attempts that succeeded, or prove nothing.
func (r Report) Broken() (n int) {
	for _, a := range r.Attempts {
		if a.Broken {
			n++
		}
	}
	return n
}

// parse reads a program's report. An attack without a control of its name that
// succeeded is broken, for it may have failed for another reason than the defence.
func parse(out string) Report {
	controls := map[string]bool{}
	var r Report
	for line := range strings.Lines(out) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		promise, said, ok := strings.Cut(rest, ": ")
		word, detail, _ := strings.Cut(said, " ")
		switch {
		case kind == "control" && ok:
			worked, known := controls[promise]
			controls[promise] = word == "ok" && (worked || !known)
			if word != "ok" {
				r.Attempts = append(r.Attempts, Attempt{promise, "the control failed: " + detail, true})
			}
		case kind == "limit" && ok:
			r.Limits = append(r.Limits, promise+": "+said)
		case kind == "attack" && ok:
			r.Attempts = append(r.Attempts, Attempt{promise, detail, word != "held"})
		}
	}
	for i, a := range r.Attempts {
		if _, known := controls[a.Promise]; !known {
			r.Attempts[i].Broken = true
			r.Attempts[i].Detail += " (it has no control)"
		}
	}
	if len(r.Attempts)+len(r.Limits) == 0 {
		return crashed(nil, "it tried nothing")
	}
	return r
}

// crashed reports a program that did not end as it must.
func crashed(err error, said string) Report {
	detail := said
	if err != nil {
		detail = fmt.Sprintf("the program failed: %v: %s", err, said)
	}
	return Report{Attempts: []Attempt{{"the program itself", detail, true}}}
}

// Print prints each broken attempt in full, and how many attempts on each promise held.
func (r Report) Print(out io.Writer) {
	held := map[string]int{}
	var order []string
	for _, a := range r.Attempts {
		if a.Broken {
			fmt.Fprintf(out, "BROKEN %s: %s\n", a.Promise, a.Detail)
			continue
		}
		if held[a.Promise] == 0 {
			order = append(order, a.Promise)
		}
		held[a.Promise]++
	}
	for _, l := range r.Limits {
		fmt.Fprintln(out, "LIMIT ", l)
	}
	for _, promise := range order {
		fmt.Fprintf(out, "held   %s (%d)\n", promise, held[promise])
	}
}

// Sum prints the last line and reports whether everything held.
func (r Report) Sum(out io.Writer) bool {
	broken := r.Broken()
	fmt.Fprintf(out, "%d tried, %d held, %d broken", len(r.Attempts), len(r.Attempts)-broken, broken)
	if len(r.Limits) > 0 {
		fmt.Fprintf(out, "; %d not promised on this rung", len(r.Limits))
	}
	fmt.Fprintln(out)
	return broken == 0 && len(r.Attempts) > 0
}
