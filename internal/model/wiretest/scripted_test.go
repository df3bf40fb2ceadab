package wiretest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"choiros/internal/model/wiretest"
)

const script = `{"rules":[
 {"name":"limit","times":1,"match":{"caller":"director"},"fail":{"status":529,"retry_after":"0"}},
 {"name":"plan","match":{"caller":"director","turn":1,"last":"fix"},"capture":{"task":"task=([a-z]+)"},
  "respond":{"text":"for {{task}}","tool_calls":[{"name":"submit_plan","input":{"id":"{{task}}"}}]}},
 {"name":"done","match":{"tool_result":"PASS","tool":"bash"},"respond":{"text":"Done."}}]}`

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestScriptedAnswersByTheFirstRuleThatMatches(t *testing.T) {
	s, err := wiretest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.NewScripted(s)
	defer server.Close()
	ask := `{"model":"scripted-director","system":"x","messages":[{"role":"user","content":"fix task=abc"}]}`
	if status, _ := post(t, server.URL, ask); status != 529 {
		t.Fatalf("the first answer has status %d, want 529", status)
	}
	status, body := post(t, server.URL, ask)
	var got struct {
		Content []struct {
			Type, Text string
			Input      struct{ ID string }
		}
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	if got.Content[0].Text != "for abc" || got.Content[1].Input.ID != "abc" || got.StopReason != "tool_use" {
		t.Errorf("the captured value is not in the answer: %s", body)
	}
	if n := len(server.Requests()); n != 2 {
		t.Errorf("%d requests were seen, want 2", n)
	}
}

func TestScriptedLooksAtToolResults(t *testing.T) {
	s, err := wiretest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.NewScripted(s)
	defer server.Close()
	ask := `{"model":"m","stream":true,"messages":[{"role":"user","content":"go"},
	 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"TOOL","input":{}}]},
	 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"all PASS"}]}]}]}`
	if status, body := post(t, server.URL, strings.Replace(ask, "TOOL", "bash", 1)); status != 200 || !strings.Contains(body, "message_stop") {
		t.Errorf("status %d: %s", status, body)
	}
	if status, body := post(t, server.URL, strings.Replace(ask, "TOOL", "read_file", 1)); status != 400 || !strings.Contains(body, "all PASS") {
		t.Errorf("a request that no rule matches: status %d: %s", status, body)
	}
	if n := len(server.Unmatched()); n != 1 {
		t.Errorf("%d requests are listed as unmatched, want 1", n)
	}
}

func TestScriptsAreChecked(t *testing.T) {
	for _, bad := range []string{`{"rules":[{"match":{}}]}`, `{"rules":[{"match":{"nope":1},"respond":{}}]}`, `{"rules":[{"match":{},"capture":{"a":"("},"respond":{}}]}`, `{`} {
		if _, err := wiretest.ParseScript([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
