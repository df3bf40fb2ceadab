package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
)

// TestAnEditThatDoesNotMatchNamesTheNearestLine: with its number, and what differs there.
func TestAnEditThatDoesNotMatchNamesTheNearestLine(t *testing.T) {
	t.Parallel()
	const code = "package a\n\nfunc first() int {\n\tif ready {  \n\t\treturn 1\n\t}\n\treturn 2\n}\n\nfunc second(name string) {\n}\n"
	for _, c := range []struct{ name, old, want string }{
		{"spaces for tabs", "func first() int {\n    if ready {\n", `line 4 differs in its indentation only: the file has 1 tab, old has 4 spaces`},
		{"white space at the end", "\tif ready {\n\t\treturn 1", `line 4 differs in white space at its end only: it is "\tif ready {  "`},
		{"white space within", "func first () int {", `line 3 differs in white space only: it is "func first() int {"`},
		{"another word", "func second(label string) {", `the nearest is line 10: "func second(name string) {"`},
		{"a later line", "\t\treturn 1\n\t}\n\treturn 3\n", `the nearest is line 7: "\treturn 2"`},
		{"line numbers", "    7\t\treturn 2\n    8\t}", "leave out the line numbers"},
		{"nothing like it", "completely unrelated words", "does not occur in f; nothing was changed"},
	} {
		p := newPlace(t, map[string]string{"f": code})
		got := p.call(t, "edit_file", in{"path": "f", "edits": []in{{"old": c.old, "new": "x"}}})
		if got.OK || !strings.HasPrefix(got.Text, "edits[0].old does not occur in f; nothing was changed") || !strings.HasSuffix(got.Text, c.want) && c.name != "line numbers" || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %q", c.name, got.Text)
		}
	}
}

// TestInputsAreTakenAsModelsWriteThem: what can mean one thing only is no mistake, and each
// other mistake is told at once.
func TestInputsAreTakenAsModelsWriteThem(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "1\n2\n3\n"})
	for _, c := range []struct {
		name, tool, raw string
		ok              bool
		want            string
	}{
		{"number in quotes", "read_file", `{"path":"a","offset":"2","limit":" 1 "}`, true, "    2\t2\n[lines 2 to 2; more follows from line 3]\n"},
		{"null for absent", "read_file", `{"path":"a","offset":3,"limit":null}`, true, "    3\t3\n"},
		{"a word for a number", "read_file", `{"path":"a","offset":"two"}`, false, "offset must be a number, not a string"},
		{"edits as a text", "edit_file", `{"path":"a","edits":"[{\"old\":\"1\",\"new\":\"one\"}]"}`, true, "edited a, 1 replacement"},
		{"one edit for a list", "edit_file", `{"path":"a","edits":{"old":"2","new":"two"}}`, true, "edited a, 1 replacement"},
		{"the field of others", "read_file", `{"file_path":"a"}`, false, "file_path is not a known field; path was probably meant\npath is required"},
		{"the edits of others", "edit_file", `{"path":"a","old_string":"1","new_string":"2"}`, false,
			"old_string is not a known field; old, in an item of edits, was probably meant\nnew_string is not a known field; new, in an item of edits, was probably meant"},
		{"misspelt", "search_files", `{"patern":"x"}`, false, "patern is not a known field; pattern was probably meant\npattern is required"},
		{"cmd", "bash", `{"cmd":"true"}`, false, "cmd is not a known field; command was probably meant"},
	} {
		call, err := tools.Decode(c.tool, []byte(c.raw))
		if err != nil {
			if c.ok || err.Error() != c.want || choir.CodeOf(err) != choir.CodeInvalid {
				t.Errorf("%s: refused: %q (%s)", c.name, err, choir.CodeOf(err))
			}
			continue
		}
		if got, err := call.Run(t.Context(), p.kit); err != nil || !c.ok || !got.OK || got.Text != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestEveryParameterIsDescribed in the schema that the model sees, and no other.
func TestEveryParameterIsDescribed(t *testing.T) {
	t.Parallel()
	for _, name := range tools.Permitted(choir.TaskEditRepo, nil) {
		var schema struct {
			Properties map[string]struct {
				Description string `json:"description"`
				Items       *struct {
					Properties map[string]struct {
						Description string `json:"description"`
					} `json:"properties"`
				} `json:"items"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(tools.Def(name).Schema, &schema); err != nil || len(schema.Properties) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for field, p := range schema.Properties {
			if p.Items == nil && p.Description == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
			if p.Items == nil {
				continue
			}
			for sub, q := range p.Items.Properties {
				if q.Description == "" {
					t.Errorf("%s.%s.%s has no description", name, field, sub)
				}
			}
		}
	}
}
