package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// openAPI returns the OpenAPI document as it is served.
func openAPI(t *testing.T) map[string]any {
	t.Helper()
	a := New(nil, Config{Version: "test", PromptBurst: 1, PromptWindow: time.Second, Now: time.Now})
	answer := httptest.NewRecorder()
	a.ServeHTTP(answer, httptest.NewRequest("GET", "/openapi.json", nil))
	var doc map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil {
		t.Fatalf("%d: %v", answer.Code, err)
	}
	return doc
}

func TestDocumentHasTheClosedListsOfTheVocabulary(t *testing.T) {
	t.Parallel()
	schemas := openAPI(t)["components"].(map[string]any)["schemas"].(map[string]any)
	for field, want := range map[string]string{
		"Problem.code":           string(choir.CodeConflict), // by the type of the field
		"EventstoreRun.state":    "waiting",                  // by its tag
		"EventstoreRun.source":   "desktop",
		"EventstoreWindow.snap":  "top_left",
		"ComputerMark.source":    "associate",
		"FileState.kind":         "symlink", // a text of the vocabulary itself
		"DirectorTask.kind":      "edit_repo",
		"LeftPath.reason":        "too_deep",
		"ComputerEventLine.type": string(choir.TypePromptSubmitted),
		"EventstoreOverlay.kind": "proposal",
	} {
		name, property, _ := strings.Cut(field, ".")
		schema := schemas[name].(map[string]any)["properties"].(map[string]any)[property].(map[string]any)
		words, _ := schema["enum"].([]any)
		if !slices.Contains(words, any(want)) {
			t.Errorf("%s may be %v, which lacks %q", field, words, want)
		}
	}
}

func TestDocumentHasNoListThatIsNull(t *testing.T) {
	t.Parallel()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if kinds, _ := v["type"].([]any); slices.Contains(kinds, any("array")) {
				t.Errorf("%s: %v", path, kinds)
			}
			for name, in := range v {
				walk(path+"/"+name, in)
			}
		case []any:
			for i, in := range v {
				walk(fmt.Sprint(path, "/", i), in)
			}
		}
	}
	walk("", openAPI(t))
}

func TestAnswersHaveEmptyListsInPlaceOfNull(t *testing.T) {
	t.Parallel()
	type part struct {
		Names []string `json:"names"`
	}
	shared := &part{}
	v := struct {
		part
		In     part     `json:"in"`
		Left   []string `json:"left,omitempty"`
		Bytes  []byte   `json:"bytes"`
		Shared *part    `json:"shared"`
	}{Shared: shared}
	fillLists(reflect.ValueOf(&v).Elem())
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"names":[],"in":{"names":[]},"bytes":null,"shared":{"names":null}}`
	if string(raw) != want || shared.Names != nil {
		t.Errorf("got %s, want %s", raw, want)
	}
	list, err := answer([]string(nil), nil)
	if err != nil || list.Body == nil {
		t.Errorf("got %v, %v", list, err)
	}
}
