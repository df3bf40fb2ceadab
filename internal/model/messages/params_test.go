package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"

	"choiros/internal/model"
	"choiros/internal/model/dialect"
	"choiros/internal/model/messages"
	"choiros/internal/model/modeltest"
)

func body(t *testing.T, ask dialect.Ask) string {
	t.Helper()
	raw, err := json.Marshal(messages.Params(ask))
	if err != nil {
		t.Fatal(err)
	}
	var back anthropic.MessageNewParams // their type reads it
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Error(err)
	}
	return string(raw)
}

func TestEachModelOfClaudeThinksInItsWay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"claude-sonnet-4-5":                          `"thinking":{"budget_tokens":4096,"type":"enabled"}`,
		"eu.anthropic.claude-opus-4-1-20250805-v1:0": `"thinking":{"budget_tokens":4096,"type":"enabled"}`,
		"claude-haiku-4-5-20251001":                  `"thinking":{"budget_tokens":4096,"type":"enabled"}`,
		"glm-4.6":                                    `"thinking":{"budget_tokens":4096,"type":"enabled"}`,
		"claude-opus-4-6":                            `"output_config":{"effort":"medium"}`,
		"claude-sonnet-5-5":                          `"thinking":{"type":"adaptive"}`,
	} {
		req := model.Request{Model: name, MaxTokens: 8192, Effort: "medium", Messages: modeltest.Request().Messages[:1]}
		if got := body(t, dialect.Ask{Request: req}); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s: %s", name, want, got)
		}
		req.Effort = "none"
		if got := body(t, dialect.Ask{Request: req}); !strings.Contains(got, `"thinking":{"type":"disabled"}`) {
			t.Errorf("%s thinks: %s", name, got)
		}
	}
}

// The API refuses to think on after an answer with tool calls that was given without.
func TestAnAnswerWithoutThinkingIsGoneOnWithWithoutIt(t *testing.T) {
	t.Parallel()
	req := modeltest.Request()
	req.Model, req.MaxTokens, req.Effort = "claude-sonnet-4-5", 8192, "high"
	if got := body(t, dialect.Ask{Request: req}); strings.Contains(got, "budget_tokens") {
		t.Errorf("it is asked to think: %s", got)
	}
	thought := model.Block{Kind: model.Thinking, Text: "Hm.", Thought: &model.Thought{Signature: "s"}}
	req.Messages[1].Content = append([]model.Block{thought}, req.Messages[1].Content...)
	if got := body(t, dialect.Ask{Request: req}); !strings.Contains(got, "budget_tokens") {
		t.Errorf("it is not asked to think: %s", got)
	}
}

func TestAMessageOfThinkingAloneIsNotSent(t *testing.T) {
	t.Parallel()
	req := modeltest.Request()
	req.Messages = []model.Message{req.Messages[0], {Role: model.Assistant, Content: []model.Block{
		{Kind: model.Thinking, Text: "Hm.", Thought: &model.Thought{Signature: "s"}},
	}}, {Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "Go on."}}}}
	if got := body(t, dialect.Ask{Request: req}); strings.Contains(got, "Hm.") || !strings.Contains(got, "Go on.") {
		t.Errorf("it sends %s", got)
	}
}

func TestMarksForTheCacheAreLeftOut(t *testing.T) {
	t.Parallel()
	got := body(t, dialect.Ask{Request: modeltest.Request(), Without: []string{dialect.CacheControl}})
	if strings.Contains(got, "cache_control") {
		t.Errorf("it marks parts: %s", got)
	}
}
