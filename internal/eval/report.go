package eval

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"

	"choiros/internal/choir"
)

// Verdict is the judgement of the hidden check on a task.
type Verdict string

// The verdicts.
const (
	Solved Verdict = "solved"
	Failed Verdict = "failed"
	// Invalid is a task whose check passes before anything was done, or cannot be tried.
	Invalid Verdict = "invalid"
)

// Outcome is the end of one task, with its figures.
type Outcome struct {
	Task    string  `json:"task"`
	Verdict Verdict `json:"verdict"`
	// Said is how the run says that it ended: done, partly, not_done, failed, cancelled, waiting, late, or of
	// another program done or the exit code that it ended with.
	Said string `json:"said,omitempty"`
	// Verified says that the run said it is done and that its own checks passed.
	Verified     bool    `json:"verified"`
	Calls        int64   `json:"calls"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	Seconds      float64 `json:"seconds"`
	// Why is the reason of an invalid task, or the end of the output of a check that failed.
	Why string `json:"why,omitempty"`
}

// FalseClaim reports whether a run said that it is done and verified, and the hidden check fails.
func (o Outcome) FalseClaim() bool { return o.Verdict == Failed && o.Verified }

// Sums are the figures of all valid tasks. Medians are of the lower of two middle values.
type Sums struct {
	Solved      int     `json:"solved"`
	Failed      int     `json:"failed"`
	Invalid     int     `json:"invalid"`
	PassRate    float64 `json:"pass_rate"`
	FalseClaims int     `json:"false_claims"`
	// UnverifiedClaims are the failed tasks whose run said done, but not verified.
	UnverifiedClaims int     `json:"unverified_claims"`
	MedianCalls      int64   `json:"median_calls"`
	MedianTokens     int64   `json:"median_tokens"`
	MedianSeconds    float64 `json:"median_seconds"`
	Tokens           int64   `json:"tokens"`
	CostUSD          float64 `json:"cost_usd"`
}

// Report is the result of running a set of tasks once.
type Report struct {
	Set     string      `json:"set"`
	Agent   string      `json:"agent"` // choir, or the command of another program
	Models  string      `json:"models"`
	Version string      `json:"version"`
	At      choir.Time  `json:"at"`
	Tasks   []Outcome   `json:"tasks"`
	Sums    Sums        `json:"sums"`
	Against *Comparison `json:"against,omitempty"`
}

// Sum returns the figures of outcomes.
func Sum(all []Outcome) Sums {
	var s Sums
	var calls, tokens []int64
	var seconds []float64
	for _, o := range all {
		switch o.Verdict {
		case Solved:
			s.Solved++
		case Failed:
			s.Failed++
		default:
			s.Invalid++
			continue
		}
		if o.FalseClaim() {
			s.FalseClaims++
		} else if o.Verdict == Failed && o.Said == "done" {
			s.UnverifiedClaims++
		}
		calls, tokens, seconds = append(calls, o.Calls), append(tokens, o.tokens()), append(seconds, o.Seconds)
		s.Tokens += o.tokens()
		s.CostUSD += o.CostUSD
	}
	s.MedianCalls, s.MedianTokens, s.MedianSeconds = median(calls), median(tokens), median(seconds)
	if n := s.Solved + s.Failed; n > 0 {
		s.PassRate = float64(s.Solved) / float64(n)
	}
	return s
}

// tokens returns the tokens of a task, in and out.
func (o Outcome) tokens() int64 { return o.InputTokens + o.OutputTokens }

// median returns the lower middle value; zero of none.
func median[T cmp.Ordered](values []T) (zero T) {
	if len(values) == 0 {
		return zero
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// Comparison is the difference between two runs of a set, over the tasks that are valid in both.
type Comparison struct {
	File   string   `json:"file"`
	Agent  string   `json:"agent"`
	Common int      `json:"common"`
	Better []string `json:"better"` // solved now, not before
	Worse  []string `json:"worse"`  // solved before, not now
	// Then and Now are the sums of the common tasks.
	Then Sums `json:"then"`
	Now  Sums `json:"now"`
}

// Fewer reports whether fewer of the common tasks were solved than before.
func (c *Comparison) Fewer() bool { return c != nil && c.Now.Solved < c.Then.Solved }

// Compare compares outcomes with those of an earlier report. nil: they have no valid task in common.
func Compare(now []Outcome, then *Report, file string) *Comparison {
	before := map[string]Outcome{}
	for _, o := range then.Tasks {
		if o.Verdict != Invalid {
			before[o.Task] = o
		}
	}
	c := &Comparison{File: file, Agent: then.Agent, Better: []string{}, Worse: []string{}}
	var a, b []Outcome
	for _, o := range now {
		was, ok := before[o.Task]
		if !ok || o.Verdict == Invalid {
			continue
		}
		a, b = append(a, was), append(b, o)
		switch {
		case o.Verdict == Solved && was.Verdict != Solved:
			c.Better = append(c.Better, o.Task)
		case o.Verdict != Solved && was.Verdict == Solved:
			c.Worse = append(c.Worse, o.Task)
		}
	}
	if c.Common = len(b); c.Common == 0 {
		return nil
	}
	c.Then, c.Now = Sum(a), Sum(b)
	return c
}

// ReadReport reads a report from a file that an earlier run wrote. Code not_found: there is none; invalid:
// it is no report.
func ReadReport(path string) (*Report, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, choir.Refuse("eval.report", choir.ReasonEvalReportUnreadable, choir.TextOf("why", err))
	}
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil || r.Tasks == nil {
		return nil, choir.Refuse("eval.report", choir.ReasonEvalNoReport, choir.TextOf("path", path))
	}
	return &r, nil
}
