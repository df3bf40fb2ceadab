// Package agentloop is the one while-loop of the system: a model, its tools, a
// budget and a reason to stop. The Director and the Associate both use it and
// differ only in the tools they hand over.
//
// The loop keeps the providers' protocol: one assistant message holds the text
// and every tool call of an answer, and the user message after it answers all
// of them, in order, also when the loop stops in the middle.
package agentloop

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Caller makes one model call. on may be nil.
type Caller interface {
	Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Tool is a tool the model is offered.
type Tool struct {
	Def model.ToolDef
	// Run executes one call. What the model did wrong, or what went wrong in a
	// way it can react to, is a Result with IsError; an error ends the loop.
	Run func(ctx context.Context, call model.Block) (Result, error)
}

// Result is what the model is told about a call.
type Result struct {
	Text    string
	IsError bool
	// Stop ends the loop after this answer of the model; calls behind this one
	// in the same answer are not run.
	Stop bool
}

// Config says what runs. Model is required; everything else has a default.
type Config struct {
	Model     Caller
	ModelName string
	System    string
	Messages  []model.Message // what was said before; not changed
	Tools     []Tool
	// Unknown answers calls of tools that were not offered. Default: an error
	// that names the tools there are.
	Unknown func(ctx context.Context, call model.Block) (Result, error)
	// MaxSteps bounds the model calls. Default 40.
	MaxSteps int
	// MaxTokens bounds one answer. Default 8192.
	MaxTokens int
	// TokenBudget bounds input and output tokens of all calls together; 0 means
	// no bound. It is looked at before each call.
	TokenBudget int64
	// MaxRepeats is how often the same call may fail in the same way, with no
	// successful call in between, before the loop gives up. Default 3.
	MaxRepeats int
	// Steer gives what a person added meanwhile, oldest first; asked before each
	// step and before the end.
	Steer      func() []string
	ToolChoice string
	// Asked, when given, is called after each answer and gives the conversation that
	// it answers, for an answer to another one than the loop's: one that was recorded.
	// The loop goes on from there. nil stands for the loop's own.
	Asked func() []model.Message
	// OnDelta receives the stream of every call.
	OnDelta func(model.Delta)
}

// Outcome is how a loop ended. It is filled as far as it goes also when Run
// returns an error.
type Outcome struct {
	Messages []model.Message // the whole conversation, Config.Messages included
	Final    string          // text of the last answer
	Steps    int             // model calls that were answered
	Usage    model.Usage     // sum over all calls
	Model    string          // the model that answered last
	Stopped  Reason
}

// Reason is why a loop ended.
type Reason string

// The reasons.
const (
	Done       Reason = "done"        // the model called no more tools
	ByTool     Reason = "tool"        // a tool asked for the end
	Steps      Reason = "steps"       // MaxSteps reached
	Tokens     Reason = "tokens"      // TokenBudget reached
	Length     Reason = "length"      // an answer without tool calls was cut off
	Refusal    Reason = "refusal"     // the model refused
	NoProgress Reason = "no_progress" // the same call failed MaxRepeats times
	Failed     Reason = "failed"      // Run returned an error
)

const (
	defaultSteps   = 40
	defaultTokens  = 8192
	defaultRepeats = 3
)

func (c Config) withDefaults() (Config, error) {
	if c.Model == nil {
		return c, choir.E("agentloop.run", choir.CodeInternal, "no model was given")
	}
	if c.MaxSteps <= 0 {
		c.MaxSteps = defaultSteps
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = defaultTokens
	}
	if c.MaxRepeats <= 0 {
		c.MaxRepeats = defaultRepeats
	}
	return c, nil
}

// Say is a message with one piece of text.
func Say(role model.Role, text string) model.Message {
	return model.Message{Role: role, Content: []model.Block{{Kind: model.Text, Text: text}}}
}
