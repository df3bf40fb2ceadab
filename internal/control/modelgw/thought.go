package modelgw

import (
	"encoding/base64"
	"encoding/json"

	"choiros/internal/model"
)

// sealThought returns what a program gets as the proof of a thinking block: the name of
// its service with the service's own proof. It comes back unchanged, so that thinking
// reaches only the service that understands it, whatever model answers next.
func sealThought(t *model.Thought) string {
	if t == nil {
		return ""
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return "" // a struct of texts can be encoded
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// unsealThought returns the thought of sealThought; nil for any other text, whose
// thinking no service would take.
func unsealThought(sealed string) *model.Thought {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return nil
	}
	var t model.Thought
	if json.Unmarshal(raw, &t) != nil || t.Of == "" {
		return nil
	}
	return &t
}
