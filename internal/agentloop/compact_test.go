package agentloop_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// limited is a model that refuses requests above a number of bytes.
type limited struct {
	script
	max     int
	refused int
}

func (s *limited) Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	size := 0
	for _, m := range req.Messages {
		for _, b := range m.Content {
			size += len(b.Text)
		}
	}
	if s.max > 0 && size > s.max {
		s.refused++
		return model.Response{}, choir.E("limited", choir.CodeTooLarge, "%d bytes", size)
	}
	if err := req.Check(); err != nil && !strings.Contains(err.Error(), "schema") && !strings.HasPrefix(err.Error(), "model ") {
		return model.Response{}, err
	}
	return s.script.Call(ctx, req, on)
}

// TestALongConversationIsCompacted: old outputs go first, then a summary takes the place of
// the middle; the first message stays as it was, every call keeps its result, and equal
// conversations make equal requests.
func TestALongConversationIsCompacted(t *testing.T) {
	t.Parallel()
	work := func(answers ...model.Response) *limited {
		return &limited{script: script{responses: answers}}
	}
	step := func() model.Response { return calls("look", "big") }
	for _, c := range []struct {
		name       string
		model      func() *limited
		maxContext int
		outputs    int
		summarized bool
		refused    int
		last       string // is in the last request
	}{
		{"not needed", func() *limited { return work(step(), step(), text("done")) }, 1 << 20, 0, false, 0, "x"},
		{"outputs", func() *limited { return work(step(), step(), step(), step(), text("done")) }, 3500, 3, false, 0, `1000 bytes, left out to save room: the output of big {"a":1}. Call again`},
		{"summary", func() *limited {
			return work(step(), step(), text("I looked once."), step(), text("I looked twice."), text("done"))
		}, 900, 0, true, 0, "I looked twice."},
		{"too large for the provider", func() *limited {
			m := work(step(), step(), step(), text("done"))
			m.max = 2500
			return m
		}, 1 << 20, 2, false, 1, "left out to save room"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var runs [2]*limited
			for i := range runs {
				m := c.model()
				runs[i] = m
				var done []agentloop.Compaction
				out, err := agentloop.Run(t.Context(), agentloop.Config{
					Model: m, Messages: []model.Message{agentloop.Say(model.User, "the plan")}, MaxContext: c.maxContext,
					Tools:     []agentloop.Tool{tool("big", agentloop.Result{Text: strings.Repeat("x", 1000)}, nil)},
					Compacted: func(d agentloop.Compaction) error { done = append(done, d); return nil },
				})
				if err != nil || out.Stopped != agentloop.Done || out.Final != "done" {
					t.Fatalf("%+v, %v", out, err)
				}
				answered(t, out.Messages)
				got := agentloop.Compaction{}
				for _, d := range done {
					got.Outputs += d.Outputs
					got.Summarized = got.Summarized || d.Summarized
					if d.After >= d.Before {
						t.Errorf("it grew: %+v", d)
					}
				}
				if got.Outputs != c.outputs && !c.summarized || got.Summarized != c.summarized || m.refused != c.refused {
					t.Errorf("compacted %+v, refused %d", done, m.refused)
				}
				for _, r := range m.requests {
					if r.Messages[0].Content[0].Text != "the plan" {
						t.Errorf("the first message is %+v", r.Messages[0])
					}
				}
				var all strings.Builder
				for _, msg := range m.requests[len(m.requests)-1].Messages {
					for _, b := range msg.Content {
						all.WriteString(b.Text)
					}
				}
				if !strings.Contains(all.String(), c.last) {
					t.Errorf("the last request has %q", all.String())
				}
			}
			if !reflect.DeepEqual(runs[0].requests, runs[1].requests) {
				t.Error("equal conversations made different requests")
			}
		})
	}
}

// TestAConversationThatStaysTooLargeEndsTheLoop, with the provider's error.
func TestAConversationThatStaysTooLargeEndsTheLoop(t *testing.T) {
	t.Parallel()
	m := &limited{max: 3}
	_, err := agentloop.Run(t.Context(), agentloop.Config{Model: m, Messages: []model.Message{agentloop.Say(model.User, "the plan")}, MaxContext: 100})
	if choir.CodeOf(err) != choir.CodeTooLarge || m.refused != 1 {
		t.Errorf("%v after %d", err, m.refused)
	}
}
