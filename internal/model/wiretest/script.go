package wiretest

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Script is a list of rules. The first rule that matches a request answers it.
type Script struct {
	Rules []Rule `json:"rules"`
}

// Rule is an answer or a fault for the requests that match.
type Rule struct {
	Name    string            `json:"name,omitempty"`
	Times   int               `json:"times,omitempty"`
	Match   Match             `json:"match"`
	Capture map[string]string `json:"capture,omitempty"`
	Respond *Respond          `json:"respond,omitempty"`
	Fail    *Fail             `json:"fail,omitempty"`

	captures map[string]*regexp.Regexp
}

// Match is the set of conditions of a rule; see the package's documentation.
type Match struct {
	Caller     string `json:"caller,omitempty"`
	Model      string `json:"model,omitempty"`
	System     string `json:"system,omitempty"`
	First      string `json:"first,omitempty"`
	Last       string `json:"last,omitempty"`
	ToolResult string `json:"tool_result,omitempty"`
	Tool       string `json:"tool,omitempty"`
	Error      *bool  `json:"error,omitempty"`
	Turn       int    `json:"turn,omitempty"`
	Any        string `json:"any,omitempty"`
	Not        string `json:"not,omitempty"`
}

// Respond is the answer of a rule.
type Respond struct {
	Text      string      `json:"text,omitempty"`
	ToolCalls []Call      `json:"tool_calls,omitempty"`
	Stop      model.Stop  `json:"stop,omitempty"`
	Usage     model.Usage `json:"usage,omitzero"`
	DelayMS   int         `json:"delay_ms,omitempty"`
}

// Call is a tool call of an answer. An empty ID gets one derived from the number of the
// request.
type Call struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Fail is a fault that replaces or breaks off an answer.
type Fail struct {
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	Type       string `json:"type,omitempty"`
	Message    string `json:"message,omitempty"`
	CutAfter   int    `json:"cut_after,omitempty"`
	Malformed  bool   `json:"malformed,omitempty"`
}

// LoadScript reads a script from a JSON file. Code not_found: the file cannot be read;
// invalid: it is no script, or has an unknown field.
func LoadScript(path string) (Script, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Script{}, choir.Wrap("wiretest.load", choir.CodeNotFound, err, "read the script")
	}
	s, err := ParseScript(raw)
	return s, choir.Wrap("wiretest.load", "", err, "%s", path)
}

// ParseScript parses a script. Code invalid: it is malformed or has an unknown field.
func ParseScript(raw []byte) (Script, error) {
	var s Script
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, choir.Wrap("wiretest.parse", choir.CodeInvalid, err, "the script is not what the package's documentation says")
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		if (r.Respond == nil) == (r.Fail == nil) {
			return s, choir.E("wiretest.parse", choir.CodeInvalid, "rule %d (%s) must have either respond or fail", i, r.Name)
		}
		if err := r.compile(); err != nil {
			return s, choir.Wrap("wiretest.parse", choir.CodeInvalid, err, "rule %d (%s)", i, r.Name)
		}
	}
	return s, nil
}

// compile compiles the rule's captures.
func (r *Rule) compile() error {
	r.captures = map[string]*regexp.Regexp{}
	for name, expr := range r.Capture {
		re, err := regexp.Compile(expr)
		if err != nil {
			return err
		}
		r.captures[name] = re
	}
	return nil
}
