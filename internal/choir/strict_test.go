package choir

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const goodTask = `{"version":1,"task_id":"0198aaaa-0000-7000-8000-000000000004","run_id":"0198aaaa-0000-7000-8000-000000000003",` +
	`"kind":"run","instruction":"go","acceptance_criteria":["a","b"],"commands":[{"argv":["true"]}],"time_budget_s":60}`

// edit changes one member of a JSON object, or drops it when value is empty.
func edit(t *testing.T, object, name, value string) []byte {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatal(err)
	}
	if m[name] = json.RawMessage(value); value == "" {
		delete(m, name)
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDirectorTaskRefusals(t *testing.T) {
	long := `"` + strings.Repeat("x", 20_001) + `"`
	cases := []struct {
		field, value string
		code         Code
		path         string
	}{
		{"extra", `1`, CodeInvalid, "extra"},
		{"Kind", `"run"`, CodeInvalid, "Kind"},
		{"", `1`, CodeInvalid, `[""]`},
		{"version", ``, CodeInvalid, "version"},
		{"version", `2`, CodeInvalid, "version"},
		{"version", `1.5`, CodeInvalid, "version"},
		{"version", `"1"`, CodeInvalid, "version"},
		{"version", `null`, CodeInvalid, "version"},
		{"task_id", `"0198aaaa-0000-4000-8000-000000000004"`, CodeInvalid, "task_id"},
		{"task_id", `"0198AAAA-0000-7000-8000-000000000004"`, CodeInvalid, "task_id"},
		{"run_id", `""`, CodeInvalid, "run_id"},
		{"kind", `"deploy"`, CodeInvalid, "kind"},
		{"kind", `["run"]`, CodeInvalid, "kind"},
		{"kind", `"git"`, CodeInvalid, "git_action"},
		{"git_action", `"git_status"`, CodeInvalid, "git_action"},
		{"git_args", `["x"]`, CodeInvalid, "git_args"},
		{"instruction", `""`, CodeInvalid, "instruction"},
		{"instruction", long, CodeTooLarge, "instruction"},
		{"acceptance_criteria", `"a"`, CodeInvalid, "acceptance_criteria"},
		{"acceptance_criteria", `null`, CodeInvalid, "acceptance_criteria"},
		{"acceptance_criteria", `["a",""]`, CodeInvalid, "acceptance_criteria[1]"},
		{"acceptance_criteria", `["a",7]`, CodeInvalid, "acceptance_criteria[1]"},
		{"acceptance_criteria", `["a"` + strings.Repeat(`,"a"`, 64) + `]`, CodeTooLarge, "acceptance_criteria"},
		{"repo", `"../up"`, CodeInvalid, "repo"},
		{"repo", `"a/b"`, CodeInvalid, "repo"},
		{"allowed_tools", `["bash","rm"]`, CodeInvalid, "allowed_tools[1]"},
		{"egress_profile", `{"mode":"open"}`, CodeInvalid, "egress_profile.mode"},
		{"egress_profile", `{}`, CodeInvalid, "egress_profile.mode"},
		{"egress_profile", `{"mode":"none","allowlist":[{"host":"x"}]}`, CodeInvalid, "egress_profile.allowlist"},
		{"egress_profile", `{"mode":"allowlist","allowlist":[{"host":"x"},{"host":"y","port":70000}]}`, CodeInvalid, "egress_profile.allowlist[1].port"},
		{"egress_profile", `[]`, CodeInvalid, "egress_profile"},
		{"verify_profile", `{"mode":"smoke","commands":[{"argv":["a"]},{"argv":["b"],"shell":"b"}]}`, CodeInvalid, "verify_profile.commands[1].argv"},
		{"verify_profile", `{"mode":"smoke","commands":[{"argv":["a",1]}]}`, CodeInvalid, "verify_profile.commands[0].argv[1]"},
		{"commands", `[{}]`, CodeInvalid, "commands[0].argv"},
		{"commands", `[{"argv":["a"],"env":[{"name":"A"}]}]`, CodeInvalid, "commands[0].env[0].value"},
		{"commands", `[{"argv":["a"],"why":"x"}]`, CodeInvalid, "commands[0].why"},
		{"commands", `[{"argv":["a"]},null]`, CodeInvalid, "commands[1]"},
		{"time_budget_s", `0`, CodeInvalid, "time_budget_s"},
		{"time_budget_s", `86401`, CodeInvalid, "time_budget_s"},
		{"time_budget_s", `1e400`, CodeInvalid, "time_budget_s"},
		{"time_budget_s", `true`, CodeInvalid, "time_budget_s"},
		{"return", `{"diff":"yes"}`, CodeInvalid, "return.diff"},
	}
	for _, c := range cases {
		var task DirectorTask
		err := DecodeStrict(edit(t, goodTask, c.field, c.value), &task)
		t.Run(fmt.Sprintf("%s=%.30s", c.field, c.value), func(t *testing.T) { wantRefusal(t, err, c.code, c.path) })
	}
	if err := DecodeStrict([]byte(goodTask), &DirectorTask{}); err != nil {
		t.Errorf("the task all cases start from: %v", err)
	}
}

func TestGivenTwiceIsRefusedWhereItIs(t *testing.T) {
	cases := map[string]string{
		"kind":             strings.Replace(goodTask, `"kind":`, `"kind":"run","kind":`, 1),
		"commands[0].argv": strings.Replace(goodTask, `{"argv":["true"]}`, `{"argv":["true"],"\u0061rgv":["true"]}`, 1),
	}
	for path, raw := range cases {
		wantRefusal(t, DecodeStrict([]byte(raw), &DirectorTask{}), CodeInvalid, path)
	}
}

func TestWhatIsNotJSONIsRefusedWhereItBreaks(t *testing.T) {
	cases := map[string]string{
		"$":                ``,
		"commands[0].argv": strings.Replace(goodTask, `["true"]`, `["true"`, 1),
		"instruction":      strings.Replace(goodTask, `"go"`, "\"\xff\"", 1),
		"kind":             strings.Replace(goodTask, `"run"`, `run`, 1),
	}
	for path, raw := range cases {
		wantRefusal(t, DecodeStrict([]byte(raw), &DirectorTask{}), CodeInvalid, path)
	}
	for _, raw := range []string{goodTask + `x`, `[` + goodTask + `]`, `null`, `"task"`} {
		wantRefusal(t, DecodeStrict([]byte(raw), &DirectorTask{}), CodeInvalid, "$")
	}
}

func TestResultRefusals(t *testing.T) {
	good, err := Canonical(AssociateResult{
		Version: 1, TaskID: testRun, RunID: testRun, Status: StatusOK, Verify: VerifyOutcome{Mode: VerifySmoke, Status: VerifyPass},
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ field, value, path string }{
		{"diff", ``, "diff"},
		{"diff", `{"format":"unified","content":"x","blob":"` + string(ZeroHash) + `"}`, "diff.blob"},
		{"status", `"failed"`, "code"},
		{"code", `"crashed"`, "code"},
		{"code", `"tired"`, "code"},
		{"verify", `{"mode":"smoke","status":"fail"}`, "status"},
		{"verify", `{"mode":"smoke"}`, "verify.status"},
		{"files_changed", `[{"path":"a","change":"added"},{"path":"b","change":"moved"}]`, "files_changed[1].change"},
		{"commands_run", `[{"command":"a","exit_code":256,"started":"2026-11-21T02:28:00.000Z","duration_ms":1}]`, "commands_run[0].exit_code"},
		{"commands_run", `[{"command":"a","exit_code":0,"started":"2026-11-21 02:28:00Z","duration_ms":1}]`, "commands_run[0].started"},
		{"usage", `{}`, "usage.cached_tokens"},
		{"checkpoint", `7`, "checkpoint"},
	}
	for _, c := range cases {
		err := DecodeStrict(edit(t, string(good), c.field, c.value), &AssociateResult{})
		t.Run(fmt.Sprintf("%s=%.30s", c.field, c.value), func(t *testing.T) { wantRefusal(t, err, CodeInvalid, c.path) })
	}
	for _, field := range []string{"diff", "checkpoint", "suggested_next", "files_changed", "questions"} {
		if err := DecodeStrict(edit(t, string(good), field, `null`), &AssociateResult{}); err != nil {
			t.Errorf("%s: null: %v", field, err)
		}
	}
}

func TestDecodePayloadNamesThePath(t *testing.T) {
	_, err := DecodePayload("prompt.submitted", []byte(`{"text":""}`))
	wantRefusal(t, err, CodeInvalid, "payload.text")
	_, err = DecodePayload("prompt.submitted", []byte(`[]`))
	wantRefusal(t, err, CodeInvalid, "payload")
	_, err = DecodePayload("prompt.eaten", []byte(`{}`))
	wantRefusal(t, err, CodeInvalid, "type")
}

func TestBase64IsStrict(t *testing.T) {
	var get BlobGetReply
	if err := DecodeStrict([]byte(`{"size":1,"chunk":"/w=="}`), &get); err != nil || string(get.Chunk) != "\xff" {
		t.Errorf("read %q, %v", get.Chunk, err)
	}
	for _, chunk := range []string{`"/w"`, `"/x=="`, `"/w==\n"`, `"_w=="`, `[1]`} {
		wantRefusal(t, DecodeStrict([]byte(`{"size":1,"chunk":`+chunk+`}`), &get), CodeInvalid, "chunk")
	}
}

func TestEveryTypeOfTheVocabularyHasGoodTags(t *testing.T) {
	roots := []any{Event{}, Draft{}, DirectorTask{}, AssociateResult{}, Reply{}}
	for _, info := range Types() {
		roots = append(roots, info.Sample)
	}
	for _, v := range Verbs() {
		roots = append(roots, v.Request, v.Reply)
	}
	seen := map[reflect.Type]bool{}
	for _, root := range roots {
		checkTags(t, reflect.TypeOf(root), seen)
	}
}

// checkTags fails on tags that do not parse and on values no program could
// check: maps and interfaces.
func checkTags(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	switch {
	case typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice:
		checkTags(t, typ.Elem(), seen)
	case typ.Kind() == reflect.Map || typ.Kind() == reflect.Interface:
		t.Errorf("%s has no shape", typ)
	case typ.Kind() == reflect.Struct && !seen[typ]:
		seen[typ] = true
		if _, err := shapeOf(typ); err != nil {
			t.Error(err)
			return
		}
		for _, f := range Describe(typ) {
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", typ, f.Name)
			}
			checkTags(t, f.Type, seen)
		}
	}
}

func TestBadTagsAreFound(t *testing.T) {
	for _, v := range []any{
		struct {
			A string `json:"a" choir:"len=1"`
		}{},
		struct {
			A string `json:"a" choir:"len=9..1"`
		}{},
		struct {
			A string `json:"a" choir:"size=1..2"`
		}{},
		struct{ A string }{},
	} {
		if _, err := shapeOf(reflect.TypeOf(v)); CodeOf(err) != CodeInternal {
			t.Errorf("%T: %v", v, err)
		}
	}
}
