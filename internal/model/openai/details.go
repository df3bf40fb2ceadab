package openai

import (
	"bytes"
	"encoding/json"
)

// reasoningDetails is the field in which OpenRouter streams the thinking of models whose
// providers demand it back unchanged, signed or encrypted. Source: OpenRouter's
// documentation, "Reasoning Tokens", "Preserving Reasoning".
const reasoningDetails = "reasoning_details"

// detail is one element of reasoningDetails. Its fields differ by its type, and all go
// back.
type detail map[string]json.RawMessage

// grows lists the types of details that are streamed in pieces, and the field whose text
// is in pieces.
var grows = map[string]string{`"reasoning.text"`: "text", `"reasoning.summary"`: "summary"}

// addDetails adds the elements of a chunk. A piece of text belongs to the last element when
// that has the same type, index and id.
func (a *answer) addDetails(raw []byte) {
	var pieces []detail
	if json.Unmarshal(raw, &pieces) != nil {
		return // the thinking in the other field is all that there is
	}
	for _, piece := range pieces {
		last := len(a.details) - 1
		if last < 0 || !a.details[last].continues(piece) {
			a.details = append(a.details, piece)
			continue
		}
		for name, value := range piece {
			if name == grows[string(piece["type"])] {
				value = joined(a.details[last][name], value)
			}
			if !isNull(value) {
				a.details[last][name] = value
			}
		}
	}
}

// continues reports whether next is a further piece of d.
func (d detail) continues(next detail) bool {
	if grows[string(d["type"])] == "" || !bytes.Equal(d["type"], next["type"]) {
		return false
	}
	for _, name := range []string{"index", "id"} {
		if !isNull(d[name]) && !isNull(next[name]) && !bytes.Equal(d[name], next[name]) {
			return false
		}
	}
	return true
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// joined returns the JSON of two texts in a row, of which each may be null.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second string
	if (!isNull(a) && json.Unmarshal(a, &first) != nil) || (!isNull(b) && json.Unmarshal(b, &second) != nil) {
		return a // no texts: the first is kept
	}
	out, err := json.Marshal(first + second)
	if err != nil {
		return a // a text can be encoded
	}
	return out
}

// detailsText returns the text of all elements, for the thinking of an answer that has no
// other.
func (a *answer) detailsText() (text string) {
	for _, d := range a.details {
		var piece string
		if json.Unmarshal(d[grows[string(d["type"])]], &piece) == nil {
			text += piece
		}
	}
	return text
}
