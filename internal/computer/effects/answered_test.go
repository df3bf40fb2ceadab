package effects

import (
	"testing"

	"choiros/internal/choir"
)

// TestAnAnswerThatWasGivenIsSaidInWords holds that a second answer is refused in a sentence of its
// own for each first one, and not with the word by which the log knows that.
func TestAnAnswerThatWasGivenIsSaidInWords(t *testing.T) {
	t.Parallel()
	for answer, want := range map[choir.EffectAnswer]string{
		choir.EffectApprove: "schon freigegeben",
		choir.EffectRefuse:  "schon abgelehnt",
		choir.EffectAgain:   "eine andere Aufgabe macht das schon neu",
	} {
		if said, help, ok := choir.SayReason("de", answeredBefore[answer], nil); !ok || said != want || help == "" {
			t.Errorf("%s is said as %q, and then %q", answer, said, help)
		}
	}
}
