package choir_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

func TestWhatIsOnceNamesFieldsThatAreThere(t *testing.T) {
	for _, info := range choir.Types() {
		if info.After != "" {
			before, ok := choir.LookupType(info.After)
			if !ok || len(before.Once) != len(info.Once) {
				t.Errorf("%s comes after %s, which is not once about the same", info.Type, info.After)
			}
		}
		for _, field := range info.Once {
			path, ofPayload := strings.CutPrefix(field, "payload.")
			if !ofPayload {
				if field != "run" && field != "task" && field != "cause" {
					t.Errorf("%s is once by %s, which no event has", info.Type, field)
				}
				continue
			}
			if !hasText(t, info, strings.Split(path, ".")) {
				t.Errorf("the payload of %s has no text %s", info.Type, path)
			}
		}
	}
}

// hasText reports whether a payload, as it is encoded, has a text at a path.
func hasText(t *testing.T, info choir.TypeInfo, path []string) bool {
	raw, err := json.Marshal(info.Sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil || members[name] == nil {
			return false
		}
		raw = members[name]
	}
	return raw[0] == '"'
}

func TestTheKeyOfAnEventFollowsFromWhatItIsAbout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]choir.Role{choir.RoleControl, choir.RoleDirector, choir.RoleAssociate, choir.RoleShell}).Draw(t, "role")
		e := choirtest.Draft(role).Draw(t, "draft")
		own, _ := choir.OnceKeys(e.Type, e.Run, e.Task, e.Cause, e.Payload)
		info, _ := choir.LookupType(e.Type)
		var subject []string
		for _, field := range info.Once {
			text := map[string]string{"run": string(e.Run), "task": string(e.Task), "cause": string(e.Cause)}[field]
			if path, ok := strings.CutPrefix(field, "payload."); ok {
				text = textAt(t, e.Payload, strings.Split(path, "."))
			}
			if text == "" {
				subject = nil
				break
			}
			subject = append(subject, text)
		}
		if want := choir.OnceKey(""); len(subject) == 0 {
			if own != want {
				t.Fatalf("%s has a key without a subject", e.Type)
			}
			return
		}
		if want := choir.NewOnceKey(e.Type, subject...); own != want {
			t.Fatalf("%s about %q has key %q, wanted %q", e.Type, subject, own, want)
		}
	})
}

func textAt(t *rapid.T, raw []byte, path []string) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	text, _ := v.(string)
	return text
}
