package taskrunner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Bounds of the call in which the model of a task that ran out of something says its last
// words.
const (
	lastWordsTokens = 1000
	lastWordsWait   = 60 * time.Second
)

// told is how low each limit was when the model was last told.
type told struct{ calls, tokens, time int }

// lowness returns how low a limit is: 1 from a quarter, 2 from a tenth, else 0.
func lowness(left, whole int64) int {
	switch {
	case whole <= 0 || left*4 > whole:
		return 0
	case left*10 > whole:
		return 1
	}
	return 2
}

// remind returns what to tell the model about limits that became low since the last time,
// "" for none.
func (d *dialogue) remind(steps int, used model.Usage) string {
	var low []string
	check := func(before *int, left, whole int64, what string) {
		if now := lowness(left, whole); now > *before {
			*before = now
			low = append(low, fmt.Sprintf("%d of %d %s", max(0, left), whole, what))
		}
	}
	check(&d.told.calls, int64(d.maxSteps-steps), int64(d.maxSteps), "model calls")
	budget := int64(d.task.TokenBudget)
	check(&d.told.tokens, budget-used.Input-used.Output, budget, "tokens")
	check(&d.told.time, int64(d.clock.workLeft().Seconds()), int64(timeBudget(d.task)), "s for commands and checks")
	if len(low) == 0 {
		return ""
	}
	return "[You have left: " + strings.Join(low, ", ") + ". Bring what matters to an end; the verification needs its part.]"
}

// ranOut returns what the task ran out of before the model was done, "" if nothing.
func (d *dialogue) ranOut(work context.Context, out agentloop.Outcome) string {
	switch {
	case out.Stopped == agentloop.Steps:
		return "model calls are"
	case out.Stopped == agentloop.Tokens:
		return "tokens are"
	case errors.Is(context.Cause(work), errBudget):
		return "time for commands and checks is"
	}
	return ""
}

// askLastWords has the model of a task that ran out of something say where it stands. It
// returns its words, "" if it does not answer.
func (d *dialogue) askLastWords(cfg agentloop.Config, out *agentloop.Outcome, gone string) string {
	ctx, cancel := context.WithTimeout(d.mayStop, lastWordsWait)
	defer cancel()
	text := "Your " + gone + " used up. Nothing is run any more. What you changed is taken back, and kept aside: a next task may go on from it. " +
		"Say in a few sentences what is done, what is left, and what you found out."
	words, err := agentloop.AskOnce(ctx, cfg, out, text, lastWordsTokens)
	if err != nil {
		return "" // the task ends for another reason
	}
	return words
}

// addLastWords adds the model's last words to a failure's summary, for the Director.
func (d *dialogue) addLastWords(f *failure) {
	r := []rune(d.said)
	if len(r) > maxSaid {
		r = append(r[:maxSaid-1], '…')
	}
	if len(r) > 0 && f.code != choir.ResultCancelled {
		f.summary += "\nThe model's last words: " + string(r)
	}
}

// maxSaid limits the model's last words in the summary of a failed task, in characters.
const maxSaid = 2000
