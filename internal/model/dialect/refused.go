package dialect

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
)

// Do calls the service under a policy, as attempt.Do does. An answer of 400 that names a
// parameter is followed at once by the same request without it. What the service then
// takes is remembered for the model, and each answer says what was left out of its
// request.
func (s *Service) Do(ctx context.Context, p attempt.Policy, req model.Request, on func(model.Delta), try func(ctx context.Context, ask Ask, on func(model.Delta)) (model.Response, error)) (model.Response, error) {
	return attempt.Do(ctx, p, on, func(ctx context.Context, on func(model.Delta)) (model.Response, error) {
		refused := s.known(req.Model)
		for {
			ask := s.adapt(req, refused)
			resp, err := try(ctx, ask, on)
			name := refusedBy(err, &ask)
			if name == "" || slices.Contains(refused, name) {
				if statusOf(err) != http.StatusBadRequest {
					s.remember(req.Model, refused)
				}
				if err == nil {
					resp.LeftOut = ask.Without
				}
				return resp, err
			}
			refused = append(refused, name)
		}
	})
}

// known returns a copy of the parameters that the service refused for a model.
func (s *Service) known(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused[name])
}

// maxModels is the maximum of models whose refused parameters are remembered.
const maxModels = 256

// remember keeps the parameters that the service refused for a model. Thinking is not
// among them: only that of one conversation was refused.
func (s *Service) remember(name string, refused []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= maxModels {
		clear(s.refused) // it is learned again
	}
	for _, r := range refused {
		if r != Thoughts && !slices.Contains(s.refused[name], r) {
			s.refused[name] = append(s.refused[name], r)
		}
	}
}

// spellings are what services call a parameter in their errors, the more telling ones
// first.
var spellings = []struct {
	name string
	said []string
}{
	{Thoughts, []string{"signature", "reasoning_content", "encrypted_content", "encrypted content", "thinking block", "redacted_thinking"}},
	{ToolChoice, []string{"tool_choice", "toolchoice", "tool choice"}},
	{Temperature, []string{"temperature"}},
	{Images, []string{"image"}},
	{StreamOptions, []string{"stream_options"}},
	{CacheControl, []string{"cache_control", "cachepoint"}},
	{Effort, []string{"effort", "thinking", "reasoning", "output_config"}},
}

// refusedBy returns the parameter of ask that an answer of 400 or 422 names; "" for any
// other error, and where it names none that was sent.
func refusedBy(err error, ask *Ask) string {
	if status := statusOf(err); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return ""
	}
	var f *attempt.Failure
	errors.As(err, &f)
	said := strings.ToLower(f.Param + " " + f.Err.Msg)
	for _, s := range spellings {
		if ask.sends(s.name) && slices.ContainsFunc(s.said, func(w string) bool { return strings.Contains(said, w) }) {
			return s.name
		}
	}
	if !ask.Lacks(MaxTokens) && strings.Contains(said, "max_completion_tokens") && strings.Contains(said, "support") {
		return MaxTokens
	}
	return ""
}

// sends reports whether a request may have a parameter.
func (a *Ask) sends(name string) bool {
	if a.Lacks(name) {
		return false
	}
	switch name {
	case ToolChoice:
		return a.ToolChoice != "" && a.ToolChoice != "auto"
	case Temperature:
		return a.Temperature != nil
	case Effort:
		return a.Effort != ""
	case Images:
		return hasImages(&a.Request)
	case Thoughts:
		return hasBlock(&a.Request, func(b model.Block) bool { return b.Kind == model.Thinking })
	}
	return true
}

// statusOf returns the HTTP status of a failure; 0 for any other error.
func statusOf(err error) int {
	var f *attempt.Failure
	if errors.As(err, &f) {
		return f.Status
	}
	return 0
}
