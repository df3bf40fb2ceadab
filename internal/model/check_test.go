package model_test

import (
	"encoding/json"
	"errors"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/modeltest"
)

func TestCheckNamesTheField(t *testing.T) {
	whole := modeltest.Request()
	if err := whole.Check(); err != nil {
		t.Fatal(err)
	}
	for path, change := range map[string]func(*model.Request){
		"model":                          func(r *model.Request) { r.Model = "" },
		"max_tokens":                     func(r *model.Request) { r.MaxTokens = 0 },
		"tool_choice":                    func(r *model.Request) { r.ToolChoice = "rm" },
		"tools[1].name":                  func(r *model.Request) { r.Tools[1].Name = r.Tools[0].Name },
		"tools[0].schema":                func(r *model.Request) { r.Tools[0].Schema = json.RawMessage(`[]`) },
		"messages":                       func(r *model.Request) { r.Messages = r.Messages[:2] },
		"messages[0].role":               func(r *model.Request) { r.Messages = r.Messages[1:] },
		"messages[2].role":               func(r *model.Request) { r.Messages[2] = r.Messages[1] },
		"messages[2].content":            func(r *model.Request) { r.Messages[2].Content = r.Messages[2].Content[:1] },
		"messages[2].content[1].call_id": func(r *model.Request) { r.Messages[2].Content[1].CallID = "call_x" },
		"messages[1].content[2].call_id": func(r *model.Request) { r.Messages[1].Content[2].CallID = "call_a" },
		"messages[1].content[1].input":   func(r *model.Request) { r.Messages[1].Content[1].Input = nil },
		"messages[0].content[0].kind":    func(r *model.Request) { r.Messages[0].Content[0].Kind = model.ToolCall },
	} {
		r := modeltest.Request()
		change(&r)
		var e *choir.Error
		if err := r.Check(); !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != path {
			t.Errorf("want %s refused, got %v", path, err)
		}
	}
}
