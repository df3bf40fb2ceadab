package main

import (
	"fmt"
	"io"
	"strings"
)

// attempt is one attack on a promise.
type attempt struct {
	promise, detail string
	broken          bool
}

// report is the attempts of one program or of all.
type report struct{ attempts []attempt }

// parse reads a program's report. An attack without a control of its name that
// succeeded is broken, for it may have failed for another reason than the defence.
func parse(out string) report {
	controls := map[string]bool{}
	var r report
	for line := range strings.Lines(out) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		promise, said, ok := strings.Cut(rest, ": ")
		word, detail, _ := strings.Cut(said, " ")
		switch {
		case kind == "control" && ok:
			worked, known := controls[promise]
			controls[promise] = word == "ok" && (worked || !known)
			if word != "ok" {
				r.attempts = append(r.attempts, attempt{promise, "the control failed: " + detail, true})
			}
		case kind == "attack" && ok:
			r.attempts = append(r.attempts, attempt{promise, detail, word != "held"})
		}
	}
	for i, a := range r.attempts {
		if _, known := controls[a.promise]; !known {
			r.attempts[i].broken = true
			r.attempts[i].detail += " (it has no control)"
		}
	}
	if len(r.attempts) == 0 {
		return crashed(nil, "it tried nothing")
	}
	return r
}

// crashed reports a program that did not end as it must.
func crashed(err error, said string) report {
	detail := said
	if err != nil {
		detail = fmt.Sprintf("the program failed: %v: %s", err, said)
	}
	return report{[]attempt{{"the program itself", detail, true}}}
}

// print shows what was broken in full and of the others how many held.
func (r report) print(out io.Writer) {
	held := map[string]int{}
	var order []string
	for _, a := range r.attempts {
		if a.broken {
			fmt.Fprintf(out, "BROKEN %s: %s\n", a.promise, a.detail)
			continue
		}
		if held[a.promise] == 0 {
			order = append(order, a.promise)
		}
		held[a.promise]++
	}
	for _, promise := range order {
		fmt.Fprintf(out, "held   %s (%d)\n", promise, held[promise])
	}
}

// sum prints the last line and says whether everything held.
func (r report) sum(out io.Writer) bool {
	broken := 0
	for _, a := range r.attempts {
		if a.broken {
			broken++
		}
	}
	fmt.Fprintf(out, "%d tried, %d held, %d broken\n", len(r.attempts), len(r.attempts)-broken, broken)
	return broken == 0 && len(r.attempts) > 0
}
