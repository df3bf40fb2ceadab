package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

const repository = "../.."

func TestCopiesInTheTreeAreFresh(t *testing.T) {
	if err := run(repository, true); err != nil {
		t.Error(err)
	}
}

func TestStaleCopiesAreNamed(t *testing.T) {
	files, err := generate(repository)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for i, f := range files {
		content := f.content
		if i == 0 {
			content = append(content[:len(content):len(content)], '\n')
		}
		write(t, filepath.Join(root, f.path), content)
	}
	write(t, filepath.Join(root, schemaFolder, "old.json"), nil)
	err = compare(root, files)
	if err == nil || !strings.Contains(err.Error(), files[0].path) || !strings.Contains(err.Error(), "old.json") || strings.Contains(err.Error(), files[1].path) {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// resolve compiles a schema file, or one of its definitions.
func resolve(t *testing.T, file, def string) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, schemaFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	// The $id is relative, as it is where the file lies.
	s.ID = ""
	if def != "" {
		s.Ref = "#/$defs/" + def
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s %s: %v", file, def, err)
	}
	return r
}

// accepts fails unless the schema takes what choir writes.
func accepts(t *rapid.T, schema *jsonschema.Resolved, v any) {
	raw, err := choir.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(plain); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func TestSchemasAcceptEveryPayload(t *testing.T) {
	for _, info := range choir.Types() {
		schema := resolve(t, "payloads.json", string(info.Type))
		rapid.Check(t, func(t *rapid.T) { accepts(t, schema, choirtest.Payload(info).Draw(t, string(info.Type))) })
	}
}

func TestSchemasAcceptTheEnvelopes(t *testing.T) {
	task, result, event := resolve(t, "director-task.json", ""), resolve(t, "associate-result.json", ""), resolve(t, "event.json", "")
	begin := resolve(t, "verbs.json", "TaskBeginReply")
	rapid.Check(t, func(t *rapid.T) {
		accepts(t, task, choirtest.Value[choir.DirectorTask]().Draw(t, "task"))
		accepts(t, result, choirtest.Value[choir.AssociateResult]().Draw(t, "result"))
		accepts(t, event, choirtest.Value[choir.Event]().Draw(t, "event"))
		accepts(t, begin, choirtest.Value[choir.TaskBeginReply]().Draw(t, "begin"))
	})
}

func TestSchemasRefuseWhatTheDecoderRefuses(t *testing.T) {
	schema := resolve(t, "director-task.json", "")
	id := `"0198aaaa-0000-7000-8000-000000000004"`
	good := `{"version":1,"task_id":` + id + `,"run_id":` + id + `,"kind":"run","instruction":"go"}`
	cases := map[string]string{
		"nothing wrong":  good,
		"unknown field":  strings.Replace(good, `"kind"`, `"extra":1,"kind"`, 1),
		"missing":        strings.Replace(good, `,"instruction":"go"`, ``, 1),
		"wrong type":     strings.Replace(good, `"go"`, `7`, 1),
		"out of range":   strings.Replace(good, `"kind"`, `"time_budget_s":0,"kind"`, 1),
		"too long":       strings.Replace(good, `go`, strings.Repeat("x", 20_001), 1),
		"not a UUIDv7":   strings.Replace(good, `-7000-`, `-4000-`, 1),
		"not in the set": strings.Replace(good, `"run",`, `"fly",`, 1),
		"nested":         strings.Replace(good, `"kind"`, `"commands":[{"argv":["a"],"cwd":""}],"kind"`, 1),
	}
	for name, raw := range cases {
		var plain any
		if err := json.Unmarshal([]byte(raw), &plain); err != nil {
			t.Fatal(err)
		}
		bySchema, byDecoder := schema.Validate(plain), choir.DecodeStrict([]byte(raw), &choir.DirectorTask{})
		if (bySchema == nil) != (byDecoder == nil) || (bySchema == nil) != (name == "nothing wrong") {
			t.Errorf("%s: the schema says %v, the decoder %v", name, bySchema, byDecoder)
		}
	}
}
