package modeltest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/wiretest"
)

// thoughtful returns an answer with thinking, text and a tool call.
func (h Harness) thoughtful() model.Response {
	r := Answer()
	r.Content = append([]model.Block{h.thought("First I look: naïve 漢字.")}, r.Content...)
	return r
}

// thought returns a thinking block as the service answers it.
func (h Harness) thought(text string) model.Block {
	t := &model.Thought{Of: h.Of}
	switch h.Wire {
	case wiretest.Anthropic, wiretest.Bedrock:
		t.Signature = "c2lnbmF0dXJl+/="
	case wiretest.Responses:
		t.ID, t.Sealed = "rs_test", "c2VhbGVk+/="
	}
	return model.Block{Kind: model.Thinking, Text: text, Thought: t}
}

// broken returns an answer whose second tool call stops in the middle of its input.
func broken() model.Response {
	r := Answer()
	call := &r.Content[2]
	call.Input, call.IsError, call.Text = json.RawMessage("{}"), true, `{"path":"ünïco`
	return r
}

// ask sends a request and returns the body that the server got.
func (h Harness) ask(t *testing.T, req model.Request) string {
	t.Helper()
	p, s := h.serving(t, Quick, wiretest.Step{Answer: Answer()})
	if _, err := p.Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return string(s.Requests()[0].Body)
}

// wantParts checks which parts a body has and lacks.
func wantParts(t *testing.T, body string, has, lacks []string) {
	t.Helper()
	for _, part := range has {
		if !strings.Contains(body, part) {
			t.Errorf("the request lacks %q: %s", part, body)
		}
	}
	for _, part := range lacks {
		if strings.Contains(body, part) {
			t.Errorf("the request has %q: %s", part, body)
		}
	}
}

// testSettings checks temperature and effort, and that a model which thinks is reminded
// of its tools in the place of being forced.
func testSettings(t *testing.T, h Harness) {
	thinks := map[wiretest.Wire]string{wiretest.OpenAI: `"reasoning_effort":"high"`, wiretest.Responses: `"effort":"high"`}[h.Wire]
	if thinks == "" {
		thinks = `"thinking":{"budget_tokens":3000,"type":"enabled"}`
	}
	warm := 0.25
	req := Request()
	req.Messages = req.Messages[:1]
	req.ToolChoice, req.Temperature, req.MaxTokens = "any", &warm, 4000
	wantParts(t, h.ask(t, req), []string{`"temperature":0.25`, `"tool_choice"`}, []string{"budget_tokens", `"effort"`, "Always answer with a call"})
	req.Effort = "high"
	wantParts(t, h.ask(t, req), []string{thinks, "Always answer with a call"}, []string{"temperature", `"tool_choice"`})
}

// Pixel is a PNG of one red pixel, in base64.
const Pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

// pictured returns a request with an image of the user and one of a tool.
func pictured() model.Request {
	req := Request()
	image := []model.Image{{MediaType: "image/png", Data: Pixel}}
	req.Messages[0].Content = append(req.Messages[0].Content, model.Block{Kind: model.Picture, Images: image})
	req.Messages[2].Content[0].Images = image
	return req
}

// testImages checks that images are sent, and words where the service takes none.
func testImages(t *testing.T, h Harness) {
	req := pictured()
	if n := strings.Count(h.ask(t, req), Pixel); n != 2 {
		t.Errorf("%d images were sent, want 2", n)
	}
	p, s := h.serving(t, Quick, wiretest.Step{Status: 400, Message: "this model does not support image input"}, wiretest.Step{Answer: Answer()})
	resp, err := p.Stream(t.Context(), req, nil)
	if err != nil || len(resp.LeftOut) != 1 || resp.LeftOut[0] != "images" {
		t.Fatalf("left out %v: %v", resp.LeftOut, err)
	}
	wantParts(t, string(s.Requests()[1].Body), []string{"an image was left out", "alpha"}, []string{Pixel})
}

// testThinkingBack checks that thinking goes back as it came, to the service it came from
// only, and that a conversation goes on without it where the service refuses it.
func testThinkingBack(t *testing.T, h Harness) {
	req := Request()
	own, other := h.thought("I thought of both."), h.thought("Foreign thoughts.")
	other.Thought.Of = "chat elsewhere.example"
	assistant := &req.Messages[1]
	assistant.Content = append([]model.Block{own, other}, assistant.Content...)
	back := map[wiretest.Wire][]string{
		wiretest.OpenAI:    {`"reasoning_content":"I thought of both."`},
		wiretest.Responses: {`"encrypted_content":"c2VhbGVk+/="`, `"id":"rs_test"`},
	}[h.Wire]
	if back == nil {
		back = []string{`"signature":"c2lnbmF0dXJl+/="`, `"thinking":"I thought of both."`}
	}
	wantParts(t, h.ask(t, req), back, []string{"Foreign"})

	p, s := h.serving(t, Quick, wiretest.Step{Status: 400, Message: "messages.1: Invalid `signature` in `thinking` block"}, wiretest.Step{Answer: Answer()})
	for range 2 { // of another conversation they are sent again
		if _, err := p.Stream(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	wantParts(t, string(s.Requests()[1].Body), []string{"Both."}, []string{"I thought of both."})
	wantParts(t, string(s.Requests()[2].Body), back[:1], nil)
}

// testRefused checks that a parameter answered with 400 is left out once, remembered for
// the model, and told.
func testRefused(t *testing.T, h Harness) {
	warm := 0.25
	req := Request()
	req.Temperature, req.ToolChoice = &warm, "any"
	good := wiretest.Step{Answer: Answer()}
	p, s := h.serving(t, Quick,
		wiretest.Step{Status: 400, Message: "Unsupported value: 'temperature' does not support 0.25 with this model."},
		wiretest.Step{Status: 400, Message: "tool_choice: this model supports only auto"}, good)
	for n := range 2 {
		resp, err := p.Stream(t.Context(), req, nil)
		if err != nil || strings.Join(resp.LeftOut, " ") != "temperature tool_choice" {
			t.Fatalf("call %d left out %v: %v", n, resp.LeftOut, err)
		}
	}
	wantRequests(t, s, 4)
	for i, body := range s.Requests() {
		if has := bytes.Contains(body.Body, []byte(`"temperature"`)); has != (i == 0) {
			t.Errorf("request %d has a temperature: %v", i, has)
		}
	}
	wantParts(t, string(s.Requests()[3].Body), []string{"Always answer with a call"}, []string{`"tool_choice"`})
	req.Model = "another-model"
	if _, err := p.Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	wantParts(t, string(s.Requests()[4].Body), []string{`"temperature":0.25`}, nil)

	again, s := h.serving(t, Quick, wiretest.Step{Status: 400, Message: "temperature is never right"})
	_, err := again.Stream(t.Context(), req, nil)
	wantCode(t, err, choir.CodeInvalid)
	wantRequests(t, s, 2)
}

// testTooLong checks that a conversation longer than the model can read is named so.
func testTooLong(t *testing.T, h Harness) {
	for _, step := range []wiretest.Step{
		{Status: 413, Message: "Request too large"},
		{Status: 400, Message: "prompt is too long: 210000 tokens > 200000 maximum"},
		{Status: 400, Message: "This model's maximum context length is 128000 tokens."},
		{Status: 400, Message: "Invalid request: Your request exceeded model token limit: 131072"},
	} {
		p, s := h.serving(t, Quick, step)
		_, err := p.Stream(t.Context(), Request(), nil)
		wantCode(t, err, choir.CodeTooLarge)
		wantRequests(t, s, 1)
	}
}

// testRestart checks that a stream which dies after its tool call is asked for again
// where the caller can hear that it begins anew.
func testRestart(t *testing.T, h Harness) {
	_, server := h.serving(t, Quick, wiretest.Step{Answer: Answer()})
	_, events := server.StreamSize(Answer())
	dies := wiretest.Step{Answer: Answer(), Cut: wiretest.CutBroken, CutAfter: events - 3}
	p, s := h.serving(t, Quick, dies, wiretest.Step{Answer: Answer()})
	var got heard
	resp, err := p.Stream(model.WithRestart(t.Context()), Request(), func(d model.Delta) {
		if d.Restart {
			got = heard{}
		}
		got.on(d)
	})
	if err != nil {
		t.Fatal(err)
	}
	resp.Usage = Answer().Usage
	same(t, resp, Answer())
	got.check(t, Answer())
	wantRequests(t, s, 2)
	p, _ = h.serving(t, attempt.Policy{Tries: 2, First: Quick.First}, dies)
	_, err = p.Stream(model.WithRestart(t.Context()), Request(), nil)
	wantCode(t, err, choir.CodeProvider)
}
