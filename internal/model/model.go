// Package model is the contract of model providers and of the guest's calls to the model
// gateway. Messages follow the providers' common protocol: one assistant message has
// text and all of its tool calls, and the next user message has a result for each.
package model

import (
	"context"
	"encoding/json"
)

// Provider calls one kind of model service. It is safe for concurrent use.
type Provider interface {
	// Name returns the provider's name: anthropic, openai, responses, bedrock or replay.
	Name() string
	// Stream calls the model. on is called in order, from one goroutine, for
	// every piece as it arrives, and never after Stream has returned. The
	// response holds everything that was streamed.
	//
	// Errors are *choir.Error: overloaded (429, 529; retried with back-off by the
	// provider before that), provider_error (other failures, malformed or cut
	// streams), unavailable (nobody is at the address, which is not tried again, or
	// there is no key), refused (bad key), invalid (the request), timeout,
	// cancelled_by_you.
	// A stream that ended without its closing message is an error, never a short
	// answer. No error or log carries a key. The response that comes with an error
	// holds nothing but the usage of what the service began to answer.
	Stream(ctx context.Context, req Request, on func(Delta)) (Response, error)
}

// Request is the content of one model call.
type Request struct {
	Model      string    `json:"model"`
	System     string    `json:"system,omitempty"`
	Messages   []Message `json:"messages"`
	Tools      []ToolDef `json:"tools,omitempty"`
	ToolChoice string    `json:"tool_choice,omitempty"` // auto (default), any, or the name of a tool
	MaxTokens  int       `json:"max_tokens"`
	// Effort is how long the model thinks: one of Efforts, or empty for the model's own
	// default.
	Effort string `json:"effort,omitempty"`
	// Temperature is 0 to 2; nil for the model's own default. It is not sent to a model
	// that thinks, since providers refuse it there.
	Temperature *float64 `json:"temperature,omitempty"`
}

// Efforts are the values of Request.Effort. none turns thinking off.
var Efforts = []string{"none", "low", "medium", "high", "max"}

// Thinks reports whether the request asks the model to think before it answers.
func (r *Request) Thinks() bool { return r.Effort != "" && r.Effort != "none" }

// Message is one message of a conversation.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
}

// Role is the author of a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Block is a part of a message: text, thinking, an image, a tool call or a tool's
// result.
type Block struct {
	Kind   BlockKind       `json:"kind"`
	Text   string          `json:"text,omitempty"`    // text; thinking; result of a tool
	CallID string          `json:"call_id,omitempty"` // tool call and its result
	Tool   string          `json:"tool,omitempty"`    // tool call
	Input  json.RawMessage `json:"input,omitempty"`   // tool call: a JSON object
	// IsError marks a tool's result as an error. A tool call with it cannot be run: the
	// model stopped in the middle of its input, Input is {} and Text what came of it.
	IsError bool    `json:"is_error,omitempty"`
	Images  []Image `json:"images,omitempty"` // image: one; tool's result: any number
	// Thought goes back to the provider with the thinking of its model.
	Thought *Thought `json:"thought,omitempty"`
}

// Image is a picture for a model that sees.
type Image struct {
	MediaType string `json:"media_type"` // image/png, image/jpeg, image/gif or image/webp
	Data      string `json:"data"`       // base64
}

// Thought holds the part of a thinking block that only its provider understands. It is
// sent back unchanged, with the thinking's text, and to the service named in Of alone.
type Thought struct {
	Of        string `json:"of"`                  // wire and service, such as chat api.z.ai
	ID        string `json:"id,omitempty"`        // of the Responses API's item; of the field in chat completions
	Signature string `json:"signature,omitempty"` // of Anthropic's thinking block
	Sealed    string `json:"sealed,omitempty"`    // encrypted thinking; JSON of OpenRouter's reasoning_details
}

// BlockKind is the kind of a block.
type BlockKind string

// The kinds of block.
const (
	Text       BlockKind = "text"
	ToolCall   BlockKind = "tool_call"
	ToolResult BlockKind = "tool_result"
	Thinking   BlockKind = "thinking"
	Picture    BlockKind = "image"
)

// ToolDef declares a tool; Schema is a JSON Schema of its input.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Delta is a piece of a streamed answer: some text, some of a tool call's input, or a
// whole thinking block once it is complete.
type Delta struct {
	Text     string `json:"text,omitempty"`
	Tool     string `json:"tool,omitempty"` // name, with the first piece of a call
	Input    string `json:"input,omitempty"`
	Thinking *Block `json:"thinking,omitempty"`
	// Restart says that the answer begins anew and what was heard of it is void. Only
	// callers of WithRestart hear it.
	Restart bool `json:"restart,omitempty"`
}

// Response is a complete answer of a model.
type Response struct {
	Model   string  `json:"model"`
	Content []Block `json:"content"`
	Stop    Stop    `json:"stop"`
	Usage   Usage   `json:"usage"`
	// LeftOut are the parameters of the request that the service refuses and was not
	// sent, such as temperature.
	LeftOut []string `json:"left_out,omitempty"`
}

// Stop is the reason why a model ended its answer.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"
	StopTool    Stop = "tool_call"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
)

// Usage is the number of tokens of a call and its cost. Input includes the cached
// tokens.
type Usage struct {
	Input       int64   `json:"input_tokens"`
	Output      int64   `json:"output_tokens"`
	CacheRead   int64   `json:"cache_read_tokens,omitempty"`
	CacheWrite  int64   `json:"cache_write_tokens,omitempty"`
	CostUSD     float64 `json:"cost_usd,omitempty"`
	PriceKnown  bool    `json:"price_known,omitempty"`
	FromRecord  bool    `json:"recorded,omitempty"`
	ServedCache bool    `json:"served_from_log,omitempty"`
	// Uncounted is the number of answers that broke off before the service reported
	// their input tokens, although it may bill them. It is not sent to guests.
	Uncounted int `json:"-"`
	// Broken is set if the counts include answers that broke off. It is not sent to
	// guests.
	Broken bool `json:"-"`
}

// AddBroken adds the usage of answers that broke off.
func (u *Usage) AddBroken(of Usage) {
	u.Broken = true
	u.Uncounted += of.Uncounted
	if of.Input == 0 && of.Uncounted == 0 {
		u.Uncounted++
	}
	u.Input += of.Input
	u.Output += of.Output
	u.CacheRead += of.CacheRead
	u.CacheWrite += of.CacheWrite
}

// ToolCalls returns the tool calls of the answer, in order.
func (r Response) ToolCalls() []Block {
	var calls []Block
	for _, b := range r.Content {
		if b.Kind == ToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}
