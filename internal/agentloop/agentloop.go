// Package agentloop is the loop of model calls and tool calls, with its budget and stop
// conditions. The Director and the Associate both use it with different tools.
//
// The loop keeps the providers' protocol: one assistant message has the text and every
// tool call of an answer, and the next user message has a result for each, in order,
// also when the loop stops in between.
package agentloop

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Caller makes one model call and passes the pieces of the answer to on, which may be
// nil.
type Caller interface {
	Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Tool is a tool that the model may call.
type Tool struct {
	Def model.ToolDef
	// Run executes one call. A mistake of the model, or a failure that it can react to,
	// is a Result with IsError; an error ends the loop.
	Run func(ctx context.Context, call model.Block) (Result, error)
}

// Result is the result of a tool call for the model.
type Result struct {
	Text    string
	IsError bool
	Images  []model.Image
	// Stop ends the loop after the current answer. Later calls in the same answer are
	// not run.
	Stop bool
	// Final are the words with which the work is done: the loop ends as with an answer of these
	// words alone, and later calls in the same answer are not run. If an earlier call in it
	// failed, the loop goes on, and the model is told that.
	Final string
}

// Config is the configuration of a loop. Model is required; everything else has a
// default.
type Config struct {
	Model     Caller
	ModelName string
	System    string
	Messages  []model.Message // the conversation so far; not modified
	// Answered is the model's answer to Messages where the loop goes on after it: its tool
	// calls run first. nil means that the model is asked first.
	Answered *model.Response
	Tools    []Tool
	// Unknown runs calls of tools that are not in Tools. Default: a result with an error
	// that lists the tools.
	Unknown func(ctx context.Context, call model.Block) (Result, error)
	// MaxSteps is the maximum of model calls. Default 40.
	MaxSteps int
	// MaxTokens is the maximum of tokens in one answer. Default 8192.
	MaxTokens int
	// TokenBudget is the maximum of input and output tokens of all calls together,
	// checked before each call; 0 means no limit.
	TokenBudget int64
	// MaxContext is the size of the conversation, in bytes of text, above which it is
	// compacted to half of it before a call: old outputs of tools are left out, then all but
	// the first message and the last exchange is summarized. Equal conversations are compacted
	// alike. A conversation that the provider refuses as too large is compacted once and sent
	// again. 0 means never.
	MaxContext int
	// Compacted is called after a compaction, if not nil. Its error ends the loop.
	Compacted func(Compaction) error
	// MaxRepeats is the number of times that the same call may fail in the same way,
	// without a successful call in between, before the loop stops. Default 3.
	MaxRepeats int
	// Steer returns the texts that a person added since its last call, oldest first. It
	// is called before each step and before the end. An error ends the loop.
	Steer      func(ctx context.Context) ([]string, error)
	ToolChoice string
	// Remind returns a text for the model about the steps and the usage so far, "" for none.
	// It is called before each step but the first, if not nil.
	Remind func(steps int, used model.Usage) string
	// Review is called when the model is done, if not nil. The text that it returns goes
	// to the model as the user's, and the loop goes on; "" ends it. So does an error.
	Review func(ctx context.Context) (string, error)
	// Asked is called after each answer, if not nil. It returns the conversation that a
	// recorded answer belongs to if that differs from the loop's own, and the loop
	// continues from it; nil means the loop's own.
	Asked func() []model.Message
	// OnDelta receives the pieces of every answer.
	OnDelta func(model.Delta)
}

// Outcome is the result of a loop. It is filled as far as the loop got when Run returns
// an error.
type Outcome struct {
	Messages []model.Message // the whole conversation, Config.Messages included
	Final    string          // text of the last answer, or Final of a tool in it
	Steps    int             // model calls that were answered
	Usage    model.Usage     // sum over all calls
	Model    string          // the model that answered last
	Stopped  Reason
}

// Reason is the reason why a loop ended.
type Reason string

// The reasons.
const (
	Done       Reason = "done"        // the model called no more tools, or one whose result has Final
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

// Say returns a message with one text block.
func Say(role model.Role, text string) model.Message {
	return model.Message{Role: role, Content: []model.Block{{Kind: model.Text, Text: text}}}
}
