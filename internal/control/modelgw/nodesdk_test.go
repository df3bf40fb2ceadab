package modelgw_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/wiretest"
	"choiros/internal/scripttest"
)

// toldService is a model service in Anthropic's wire format that does what the last words of the user say.
type toldService struct {
	*httptest.Server
	left atomic.Int64 // slow answers that were left
}

// toldMessage is the part of a message that toldService looks at.
type toldMessage struct {
	Content []struct{ Type, Text string }
}

func (s *toldService) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in struct{ Messages []toldMessage }
	if err != nil || json.Unmarshal(body, &in) != nil || len(in.Messages) == 0 {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	words, result := "", false
	for _, b := range in.Messages[len(in.Messages)-1].Content {
		result = result || b.Type == "tool_result"
		if b.Text != "" {
			words = b.Text
		}
	}
	answer := hello()
	switch status, fails := strings.CutPrefix(words, "status "); {
	case fails:
		n, _ := strconv.Atoi(status)
		w.Header().Set("Retry-After", "90") // longer than the gateway waits
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(n)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"api_error","message":"it went wrong"}}`)
		return
	case words == "echo":
		answer.Content = []model.Block{{Kind: model.Text, Text: string(body)}}
	case words == "tools":
		answer = toldTools()
	case words == "once":
		answer.Content, answer.Stop = toldTools().Content[3:4], model.StopTool
	case result:
		answer.Content = []model.Block{{Kind: model.Text, Text: "It says alpha."}}
	case words == "length":
		answer.Stop = model.StopLength
	case words == "refusal":
		answer.Stop = model.StopRefusal
	}
	stream := wiretest.Stream(wiretest.Anthropic, answer)
	w.Header().Set("Content-Type", "text/event-stream")
	if words == "slow" || words == "midstream" {
		stream = stream[:strings.Index(string(stream), "event: content_block_stop")]
	}
	_, _ = w.Write(stream)
	_ = http.NewResponseController(w).Flush()
	switch words {
	case "slow":
		<-r.Context().Done()
		s.left.Add(1)
	case "midstream":
		_, _ = io.WriteString(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"it went wrong\"}}\n\n")
	}
}

// toldTools is an answer with every kind of block.
func toldTools() model.Response {
	return model.Response{Model: "stub-1", Stop: model.StopTool, Usage: model.Usage{Input: 120, Output: 34, CacheRead: 100}, Content: []model.Block{
		{Kind: model.Thinking, Text: "Let me see.", Thought: &model.Thought{Signature: "sig+/="}},
		{Kind: model.Thinking, Thought: &model.Thought{Sealed: "sealed"}},
		{Kind: model.Text, Text: "I read both."},
		{Kind: model.ToolCall, CallID: "call_c", Tool: "read_file", Input: json.RawMessage(`{"path":"c"}`)},
		{Kind: model.ToolCall, CallID: "call_d", Tool: "read_file", Input: json.RawMessage(`{"path":"d é \"quoted\""}`)},
	}}
}

// TestTheNodeSDKsWorkThroughTheGateway runs the official npm clients, at the versions of tools/sdk, against the
// gateway: what they need and what their error classes are stands in tools/sdk/check.mjs.
func TestTheNodeSDKsWorkThroughTheGateway(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: ", err)
	}
	sdk, err := filepath.Abs("../../../tools/sdk")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(sdk, "node_modules", "openai")); err != nil {
		t.Skip("the packages of tools/sdk are not installed (make tools/sdk/node_modules): ", err)
	}
	service := &toldService{}
	service.Server = httptest.NewServer(http.HandlerFunc(service.serve))
	t.Cleanup(service.Close)
	key := func(context.Context) (string, error) { return "k-0123456789", nil }
	r := newRig(t, func(c *modelgw.Config) {
		routes(anthropic.New(anthropic.Config{BaseURL: service.URL, Key: key, Retry: attempt.Policy{Tries: 1}}))(c)
		c.Linger = time.Millisecond
	})
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(sdk, "check.mjs"), r.http.URL)
	cmd.Dir = sdk
	cmd.Env = append(os.Environ(), "NODE_OPTIONS=", "ANTHROPIC_LOG=", "OPENAI_LOG=")
	ran := scripttest.Run(t, cmd)
	if ran < 56 {
		t.Errorf("%d cases ran", ran)
	}
	r.gw.Close() // waits for the calls that were left
	if left := service.left.Load(); left != 3 {
		t.Errorf("the service saw %d of 3 streams being left", left)
	}
	if called, returned := len(r.log.of(choir.TypeModelCalled)), len(r.log.of(choir.TypeModelReturned)); called != returned {
		t.Errorf("the log has %d calls and %d ends", called, returned)
	}
}
