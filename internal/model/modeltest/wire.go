package modeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/wiretest"
)

// overload is the name of the overload error within a stream, by wire format.
var overload = map[wiretest.Wire]string{
	wiretest.Anthropic: "overloaded_error",
	wiretest.OpenAI:    "rate_limit_exceeded",
	wiretest.Responses: "rate_limit_exceeded",
	wiretest.Bedrock:   "throttlingException",
}

func wantCode(t *testing.T, err error, want choir.Code) {
	t.Helper()
	var e *choir.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("the error is %v (code %s), want code %s", err, choir.CodeOf(err), want)
	}
}

func wantRequests(t *testing.T, s *wiretest.Server, want int) {
	t.Helper()
	if got := len(s.Requests()); got != want {
		t.Errorf("the provider was asked %d times, want %d", got, want)
	}
}

// testRequest checks that every part of the request is sent.
func testRequest(t *testing.T, h Harness) {
	p, s := h.serving(t, Quick, wiretest.Step{Answer: Answer()})
	req := Request()
	req.ToolChoice = "bash"
	if _, err := p.Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	body := s.Requests()[0].Body
	for _, part := range []string{"You are a test.", "Look at both files", "Both.", "alpha", "no such file", "call_a", "call_b", "read_file", "Reads a file.", "1000", `"required":["path"]`} {
		if !bytes.Contains(body, []byte(part)) {
			t.Errorf("the request lacks %q: %s", part, body)
		}
	}
	if h.Wire != wiretest.OpenAI && h.Wire != wiretest.Responses {
		if n := bytes.Count(body, []byte(`"cache_control":{"type":"ephemeral"}`)); n != 3 {
			t.Errorf("%d parts are marked for the cache, want tools, system and last message: %s", n, body)
		}
	}
}

// testSplit checks that an answer is the same however the network splits its bytes.
func testSplit(t *testing.T, h Harness) {
	answer := text("zwölf 漢字 🎻", model.StopEnd)
	answer.Content = append(answer.Content, Answer().Content[2])
	answer.Stop = model.StopTool
	one, server := h.serving(t, Quick, wiretest.Step{Answer: answer, Split: 1})
	size, _ := server.StreamSize(answer)
	check := func(p model.Provider, what string) {
		var got heard
		resp, err := p.Stream(t.Context(), Request(), got.on)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		same(t, resp, answer)
		got.check(t, answer)
	}
	check(one, "byte by byte")
	each := 1
	if testing.Short() {
		each = 7
	}
	steps := make([]wiretest.Step, 0, size)
	for i := 1; i < size; i += each {
		steps = append(steps, wiretest.Step{Answer: answer, SplitAt: i})
	}
	p, _ := h.serving(t, Quick, steps...)
	for i := 1; i < size; i += each {
		check(p, fmt.Sprintf("split before byte %d", i))
	}
}

// testCut checks that every stream without its end gives an error, for each event and
// way of cutting. The last events contain only the end.
func testCut(t *testing.T, h Harness) {
	answer := Answer()
	_, server := h.serving(t, Quick, wiretest.Step{Answer: answer})
	_, events := server.StreamSize(answer)
	for _, cut := range []wiretest.Cut{wiretest.CutClean, wiretest.CutBroken} {
		// A connection that breaks after the last event was read breaks nothing.
		for n := range events {
			if h.Wire == wiretest.OpenAI && n == events-1 {
				continue // finish and usage have come: nothing of the answer is missing
			}
			p, _ := h.serving(t, attempt.Policy{Tries: 1}, wiretest.Step{Answer: answer, Cut: cut, CutAfter: n})
			resp, err := p.Stream(t.Context(), Request(), nil)
			wantCode(t, err, choir.CodeProvider)
			if len(resp.Content) > 0 {
				t.Errorf("cut %d after %d of %d events gave a short answer", cut, n, events)
			}
		}
	}
}

// testRetries checks which failures are retried, how often, and after which waits.
func testRetries(t *testing.T, h Harness) {
	good := wiretest.Step{Answer: Answer()}
	t.Run("waits as long as it is told", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Status: 429, RetryAfter: "0.08"}, good)
		start := time.Now()
		resp, err := p.Stream(t.Context(), Request(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < 80*time.Millisecond {
			t.Errorf("waited %s, not the 80 ms of Retry-After", waited)
		}
		same(t, resp, Answer())
		wantRequests(t, s, 2)
	})
	t.Run("does not wait for an hour", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Status: 429, RetryAfter: "3600"}, good)
		_, err := p.Stream(t.Context(), Request(), nil)
		wantCode(t, err, choir.CodeOverloaded)
		wantRequests(t, s, 1)
	})
	t.Run("gives up after a bounded number", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Status: 529})
		_, err := p.Stream(t.Context(), Request(), nil)
		wantCode(t, err, choir.CodeOverloaded)
		wantRequests(t, s, 5)
	})
	t.Run("tries again after 500 and after a cut before the first piece", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Status: 500}, wiretest.Step{Answer: Answer(), Cut: wiretest.CutBroken, CutAfter: 1}, good)
		var got heard
		if _, err := p.Stream(t.Context(), Request(), got.on); err != nil {
			t.Fatal(err)
		}
		got.check(t, Answer())
		wantRequests(t, s, 3)
	})
	t.Run("not once a piece was delivered", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Answer: Answer(), Cut: wiretest.CutClean, CutAfter: 5}, good)
		var got heard
		_, err := p.Stream(t.Context(), Request(), got.on)
		wantCode(t, err, choir.CodeProvider)
		wantRequests(t, s, 1)
		if got.text.Len() == 0 {
			t.Error("no piece was delivered before the cut")
		}
	})
	t.Run("an error event is an error", func(t *testing.T) {
		p, _ := h.serving(t, attempt.Policy{Tries: 1}, wiretest.Step{Answer: Answer(), StreamError: overload[h.Wire]})
		_, err := p.Stream(t.Context(), Request(), nil)
		wantCode(t, err, choir.CodeOverloaded)
		if err == nil || !strings.Contains(err.Error(), "it went wrong") {
			t.Errorf("the provider's reason is not in %v", err)
		}
	})
}

// testFaults checks the error code of each fault.
func testFaults(t *testing.T, h Harness) {
	for name, c := range map[string]struct {
		step     wiretest.Step
		code     choir.Code
		requests int
	}{
		"bad request":        {wiretest.Step{Status: 400, Message: "max_tokens is too large"}, choir.CodeInvalid, 1},
		"bad key":            {wiretest.Step{Status: 401}, choir.CodeRefused, 1},
		"forbidden":          {wiretest.Step{Status: 403}, choir.CodeRefused, 1},
		"no such model":      {wiretest.Step{Status: 404}, choir.CodeInvalid, 1},
		"server error":       {wiretest.Step{Status: 500}, choir.CodeProvider, 2},
		"malformed JSON":     {wiretest.Step{Answer: Answer(), Malformed: true}, choir.CodeProvider, 1},
		"wrong content type": {wiretest.Step{ContentType: "text/html; charset=utf-8"}, choir.CodeProvider, 1},
		"silence":            {wiretest.Step{Answer: Answer(), Hang: true}, choir.CodeTimeout, 1},
	} {
		t.Run(name, func(t *testing.T) {
			retry := Quick
			retry.Tries, retry.Idle = 2, 300*time.Millisecond
			p, s := h.serving(t, retry, c.step)
			_, err := p.Stream(t.Context(), Request(), nil)
			wantCode(t, err, c.code)
			wantRequests(t, s, c.requests)
			if err != nil && !strings.Contains(err.Error(), c.step.Message) {
				t.Errorf("the provider's reason is not in %v", err)
			}
		})
	}
	t.Run("a slow stream is no fault", func(t *testing.T) {
		retry := Quick
		retry.Idle = 300 * time.Millisecond
		p, _ := h.serving(t, retry, wiretest.Step{Answer: Answer(), Delay: 15 * time.Millisecond})
		resp, err := p.Stream(t.Context(), Request(), nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, resp, Answer())
	})
	t.Run("a redirect is not followed", func(t *testing.T) {
		_, thief := h.serving(t, Quick, wiretest.Step{Answer: Answer()})
		p, _ := h.serving(t, Quick, wiretest.Step{Status: 307, Location: thief.URL})
		_, err := p.Stream(t.Context(), Request(), nil)
		wantCode(t, err, choir.CodeProvider)
		wantRequests(t, thief, 0)
	})
	t.Run("nobody there is told at once", func(t *testing.T) {
		p, s := h.serving(t, attempt.Policy{First: time.Minute, Longest: time.Minute}, wiretest.Step{})
		s.Close()
		ctx := model.WithWaiting(t.Context(), func(why error, pause time.Duration) { t.Errorf("it is asked again after %s: %v", pause, why) })
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := p.Stream(ctx, Request(), nil)
		wantCode(t, err, choir.CodeUnavailable)
		if !strings.Contains(err.Error(), "nothing listens at") {
			t.Errorf("the reason is %v", err)
		}
	})
	t.Run("no such host is told at once", func(t *testing.T) {
		p := h.New(t, "http://no-such-host.invalid", attempt.Policy{First: time.Minute, Longest: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := p.Stream(ctx, Request(), nil)
		wantCode(t, err, choir.CodeUnavailable)
	})
	t.Run("a wait is told", func(t *testing.T) {
		p, _ := h.serving(t, Quick, wiretest.Step{Status: 529}, wiretest.Step{Answer: Answer()})
		var told []error
		_, err := p.Stream(model.WithWaiting(t.Context(), func(why error, _ time.Duration) { told = append(told, why) }), Request(), nil)
		if err != nil || len(told) != 1 {
			t.Errorf("told %v: %v", told, err)
			return
		}
		wantCode(t, told[0], choir.CodeOverloaded)
	})
	t.Run("an attempt after one that broke can be refused", func(t *testing.T) {
		cut := wiretest.Step{Answer: Answer(), Cut: wiretest.CutBroken}
		p, s := h.serving(t, Quick, wiretest.Step{Status: 529}, cut, cut, cut)
		asked, refused := 0, choir.E("test", choir.CodeBudget, "no more")
		resp, err := p.Stream(model.WithAgain(t.Context(), func(_ context.Context, used model.Usage, why error) error {
			if asked++; !used.Broken || why == nil {
				t.Errorf("asked for %+v after %v", used, why)
			}
			if asked == 2 {
				return refused
			}
			return nil
		}), Request(), nil)
		wantCode(t, err, choir.CodeBudget)
		if asked != 2 || !resp.Usage.Broken {
			t.Errorf("asked %d times, used %+v", asked, resp.Usage)
		}
		wantRequests(t, s, 3)
	})
}

// testCancel checks that ctx ends a call in its stream and in a pause.
func testCancel(t *testing.T, h Harness) {
	t.Run("in the stream", func(t *testing.T) {
		p, s := h.serving(t, Quick, wiretest.Step{Answer: Answer(), Hang: true})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := p.Stream(ctx, Request(), nil)
			done <- err
		}()
		<-s.Arrived()
		cancel()
		wantCode(t, <-done, choir.CodeCancelled)
	})
	t.Run("in a pause", func(t *testing.T) {
		p, _ := h.serving(t, attempt.Policy{}, wiretest.Step{Status: 429, RetryAfter: "30"})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := p.Stream(ctx, Request(), nil)
		wantCode(t, err, choir.CodeTimeout)
	})
}

// testKey checks that no error contains the key, also when the provider's message
// repeats the request's credentials.
func testKey(t *testing.T, h Harness) {
	for _, step := range []wiretest.Step{
		{Status: 401, Message: "bad key {{auth}}"},
		{Status: 400, Message: strings.Repeat("x", 990) + "{{auth}}"},
		{Status: 500, Message: "{{auth}} {{auth}}"},
		{Status: 429, Message: "{{auth}}"},
		{Answer: Answer(), Cut: wiretest.CutBroken, CutAfter: 2},
		{ContentType: "text/html"},
	} {
		p, _ := h.serving(t, attempt.Policy{Tries: 1}, step)
		_, err := p.Stream(t.Context(), Request(), nil)
		if err == nil {
			t.Fatalf("%+v is no error", step)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			said := fmt.Sprintf("%v %+v %#v", err, err, err)
			if strings.Contains(said, Key) || strings.Contains(said, Key[:16]) {
				t.Errorf("an error holds the key: %s", said)
			}
		}
	}
}
