package director_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/director/conductor"
	"choiros/internal/model"
)

// otherWords is the model as a Director of another build asks it: all that the
// Director says itself reads otherwise.
type otherWords struct {
	conductor.Models
	build string
	// continued counts the calls whose conversation was begun by another build.
	continued *atomic.Int64
}

func (o otherWords) Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error) {
	words := " (in the words of the " + o.build + " build)"
	if strings.Contains(req.Messages[0].Content[0].Text, "in the words of the") {
		o.continued.Add(1)
	}
	req.System += words
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		if m.Role != model.User {
			continue
		}
		m.Content = slices.Clone(m.Content)
		for k := range m.Content {
			m.Content[k].Text += words
		}
		req.Messages[i] = m
	}
	return o.Models.Call(ctx, info, req, on)
}

var tokenBudget = regexp.MustCompile(`"token_budget":\d+`)

// withoutBudgets leaves out what depends on how many words the Director used.
func withoutBudgets(effects []effect) []effect {
	for i := range effects {
		effects[i].Payload = tokenBudget.ReplaceAllString(effects[i].Payload, "")
	}
	return effects
}

// TestADirectorOfAnotherBuildGoesOnWithARun plays every script, kills the Director
// after an event, and lets one go on whose prompts and words are others: the run comes
// to the same end with the same effects. Without everyStep it takes one event in
// three, in short one in five.
func TestADirectorOfAnotherBuildGoesOnWithARun(t *testing.T) {
	t.Parallel()
	each := sampled()
	var continued atomic.Int64
	t.Cleanup(func() {
		if continued.Load() == 0 {
			t.Error("no conversation was begun by one build and continued by the other")
		}
	})
	for n, s := range scripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := &play{t: t, script: s}
			want := first.run()
			for i, at := range want {
				if (i+n)%each != 0 {
					continue
				}
				p := &play{t: t, script: s, killAt: at.Seq, renewed: &continued}
				got := p.run()
				p.check(got)
				if diff := cmp.Diff(withoutBudgets(effects(t, want)), withoutBudgets(effects(t, got))); diff != "" {
					t.Fatalf("another build after event %d (%s): (-one build +two)\n%s", at.Seq, at.Type, diff)
				}
			}
		})
	}
}
