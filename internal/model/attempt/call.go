package attempt

import (
	"encoding/json"
	"strings"

	"choiros/internal/model"
)

// Call returns a tool call with the input that came for it, {} for none. whole is false
// if the model stopped in the middle of the input: then the call is marked, has {} as
// input and what came as text, so that the model can be told.
func Call(b model.Block, input string) (call model.Block, whole bool) {
	input = strings.TrimSpace(input)
	if input == "" {
		input = "{}"
	}
	if json.Valid([]byte(input)) && input[0] == '{' {
		b.Input = json.RawMessage(input)
		return b, true
	}
	b.Input, b.IsError, b.Text = json.RawMessage("{}"), true, strings.ToValidUTF8(input, "\uFFFD")
	return b, false
}

// bytesPerToken is the number of bytes that count as one token where a service reported
// no number.
const bytesPerToken = 3

// Tokens estimates the tokens in a number of bytes, rounded up.
func Tokens(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }
