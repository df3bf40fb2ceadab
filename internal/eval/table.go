package eval

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table returns the report as a table of tasks with its sums below.
func (r *Report) Table() string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "task\tresult\tit said\tcalls\tin\tout\tcached\tcost\ttime\t")
	for _, o := range r.Tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t$%.4f\t%.1f s\t%s\n",
			o.Task, o.Verdict, o.saying(), o.Calls, o.InputTokens, o.OutputTokens, o.CachedTokens, o.CostUSD, o.Seconds, r.mark(o.Task))
	}
	w.Flush()
	s := r.Sums
	fmt.Fprintf(&out, "\n%d of %d solved (%.0f %%), %d invalid; false claims: %d verified, %d not verified\n",
		s.Solved, s.Solved+s.Failed, 100*s.PassRate, s.Invalid, s.FalseClaims, s.UnverifiedClaims)
	fmt.Fprintf(&out, "median of a task: %d calls, %d tokens, %.1f s; all: %d tokens, $%.4f\n", s.MedianCalls, s.MedianTokens, s.MedianSeconds, s.Tokens, s.CostUSD)
	var in, cached int64
	for _, o := range r.Tasks {
		in, cached = in+o.InputTokens, cached+o.CachedTokens
	}
	if in > 0 {
		fmt.Fprintf(&out, "from the provider's cache of prompts: %d of %d input tokens (%.0f %%)\n", cached, in, 100*float64(cached)/float64(in))
	}
	for _, o := range r.Tasks {
		if o.Why != "" {
			fmt.Fprintf(&out, "\n%s: %s\n", o.Task, indent(o.Why))
		}
	}
	out.WriteString(r.Against.table())
	return out.String()
}

// saying returns what the run said of itself.
func (o Outcome) saying() string {
	switch {
	case o.FalseClaim():
		return o.Said + ", verified (false)"
	case o.Verified:
		return o.Said + ", verified"
	case o.Said == "":
		return "-"
	}
	return o.Said
}

// mark returns how a task compares with the report before.
func (r *Report) mark(task string) string {
	switch {
	case r.Against == nil:
		return ""
	case slices.Contains(r.Against.Better, task):
		return "better"
	case slices.Contains(r.Against.Worse, task):
		return "worse"
	}
	return ""
}

// table returns the comparison in three lines; nothing for none.
func (c *Comparison) table() string {
	if c == nil {
		return ""
	}
	ratio := "-"
	if c.Then.Tokens > 0 {
		ratio = fmt.Sprintf("%.2f times the tokens", float64(c.Now.Tokens)/float64(c.Then.Tokens))
	}
	return fmt.Sprintf("\nagainst %s (%s), %d tasks in common: solved %d, was %d; better %d, worse %d\nmedian calls %d, was %d; tokens %d, was %d: %s\n",
		c.File, c.Agent, c.Common, c.Now.Solved, c.Then.Solved, len(c.Better), len(c.Worse),
		c.Now.MedianCalls, c.Then.MedianCalls, c.Now.Tokens, c.Then.Tokens, ratio)
}

// indent returns a text with its lines after the first indented.
func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}
