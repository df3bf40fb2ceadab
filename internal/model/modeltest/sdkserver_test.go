package modeltest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/openai"
)

// sdkFolder has the providers' npm packages and the server that is typed by them.
const sdkFolder = "../../../tools/sdk"

// serveSDK starts tools/sdk/serve.mjs and returns its address.
func serveSDK(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: ", err)
	}
	cmd := exec.Command(node, "serve.mjs")
	cmd.Dir, cmd.Stderr, cmd.Env = sdkFolder, os.Stderr, append(os.Environ(), "NODE_OPTIONS=")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_, _ = io.Copy(io.Discard, stdout) // until it has ended
		if err := cmd.Wait(); err != nil {
			t.Error("the server ended with ", err)
		}
	})
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal("the server says no port: ", err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// TestTheSDKServerHasTheProvidersTypes has the pinned packages' own types checked by tsc.
func TestTheSDKServerHasTheProvidersTypes(t *testing.T) {
	t.Parallel()
	tsc := filepath.Join("node_modules", ".bin", "tsc")
	if _, err := os.Stat(filepath.Join(sdkFolder, tsc)); err != nil {
		t.Skip("the packages of tools/sdk are not installed (make tools/sdk/node_modules): ", err)
	}
	cmd := exec.Command(tsc, "-p", ".")
	cmd.Dir = sdkFolder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestOurClientsUnderstandTheProvidersTypes runs our clients against a server whose events and
// errors have the types of the providers' own packages: a whole answer with thinking and tool
// calls, each error, and a stream that dies after a tool call, which is never a short answer.
func TestOurClientsUnderstandTheProvidersTypes(t *testing.T) {
	t.Parallel()
	url := serveSDK(t)
	key := func(context.Context) (string, error) { return modeltest.Key, nil }
	once := attempt.Policy{Tries: 1}
	calls := []model.Block{
		{Kind: model.Text, Text: "I read both."},
		{Kind: model.ToolCall, CallID: "call_c", Tool: "read_file", Input: json.RawMessage(`{"path":"c"}`)},
		{Kind: model.ToolCall, CallID: "call_d", Tool: "read_file", Input: json.RawMessage(`{"path":"d é \"quoted\""}`)},
	}
	for _, c := range []struct {
		name    string
		client  model.Provider
		model   string
		thought *model.Thought // nil for a service without thinking
	}{
		{"messages", anthropic.New(anthropic.Config{Key: key, BaseURL: url, Retry: once}), "claude-sonnet-4-5", &model.Thought{Of: "messages 127.0.0.1", Signature: "sig+/="}},
		{"chat completions", openai.New(openai.Config{Key: key, BaseURL: url + "/v1", Retry: once}), "gpt-5", nil},
		{"responses", openai.NewResponses(openai.Config{Key: key, BaseURL: url + "/v1", Retry: once}), "gpt-5", &model.Thought{Of: "responses 127.0.0.1", ID: "rs_1", Sealed: "sealed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ask := func(words string) (model.Response, string, error) {
				req := modeltest.Request()
				req.Model, req.Effort = c.model, "low"
				req.Messages = append(req.Messages[:0:0], model.Message{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: words}}})
				var heard strings.Builder
				resp, err := c.client.Stream(t.Context(), req, func(d model.Delta) { heard.WriteString(d.Text + d.Tool + d.Input) })
				return resp, heard.String(), err
			}
			content := calls
			if c.thought != nil {
				content = append([]model.Block{{Kind: model.Thinking, Text: "Let me see.", Thought: c.thought}}, calls...)
			}
			want := model.Response{Model: c.model, Content: content, Stop: model.StopTool, Usage: model.Usage{Input: 120, Output: 34, CacheRead: 100}}
			resp, heard, err := ask("read both")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, resp); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
			if whole := `I read both.read_file{"path":"c"}read_file{"path":"d é \"quoted\""}`; heard != whole {
				t.Errorf("heard is %q", heard)
			}
			for words, code := range map[string]choir.Code{
				"status 400": choir.CodeInvalid, "status 413": choir.CodeTooLarge, "status 429": choir.CodeOverloaded, "status 529": choir.CodeOverloaded,
				"die": choir.CodeProvider,
			} {
				resp, heard, err := ask(words)
				if choir.CodeOf(err) != code || len(resp.Content) != 0 {
					t.Errorf("%s: %v, want the code %s; the answer has %d blocks", words, err, code, len(resp.Content))
				}
				if words == "die" && !strings.HasSuffix(heard, `read_file{"path":"c"}`) {
					t.Errorf("before it died %q was heard", heard)
				}
			}
		})
	}
}
