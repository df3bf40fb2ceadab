// Package dialect knows in what a model service differs from its wire format: whether a
// tool can be forced, how thinking goes back, and which parameters it has refused. The
// providers share it.
package dialect

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"choiros/internal/model"
)

// Service is one connection to a model service. It remembers for each model which
// parameters the service refused. It is safe for concurrent use.
type Service struct {
	host    string
	thought string // Thought.Of of its thinking

	mu      sync.Mutex // guards refused
	refused map[string][]string
}

// New returns the service at an address that speaks a wire format.
func New(wire, baseURL string) *Service {
	s := &Service{refused: map[string][]string{}}
	if u, err := url.Parse(baseURL); err == nil {
		s.host = u.Hostname()
	}
	s.thought = wire + " " + s.host
	return s
}

// NewClaude returns the service of Claude at Anthropic or on Bedrock, which take back
// each other's thinking.
func NewClaude() *Service {
	return &Service{thought: "messages claude", refused: map[string][]string{}}
}

// Thought returns the name of the service in the thinking of its models.
func (s *Service) Thought() string { return s.thought }

// at reports whether the service is at one of the domains or below.
func (s *Service) at(domains ...string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return s.host == d || strings.HasSuffix(s.host, "."+d) })
}

// IsOpenAI reports whether the service is OpenAI's own, not a compatible one.
func (s *Service) IsOpenAI() bool { return s.at("openai.com") }

// SwitchesThinking reports whether thinking is switched on by Z.ai's and Kimi's field
// thinking, not by an effort.
func (s *Service) SwitchesThinking() bool {
	return s.at("z.ai", "bigmodel.cn", "moonshot.ai", "moonshot.cn", "kimi.com")
}

// forces reports whether the service lets a request force the use of a tool. Z.ai and
// Kimi know only auto, also behind other services, and so does any model that was asked
// to think.
// Sources: docs.z.ai "tool_choice", platform.moonshot.ai "tool use", Anthropic's
// "Extended thinking with tool use".
func (s *Service) forces(req *model.Request) bool {
	name := strings.ToLower(req.Model[strings.LastIndex(req.Model, "/")+1:])
	return !req.Thinks() && !s.SwitchesThinking() && !strings.HasPrefix(name, "glm-") && !strings.HasPrefix(name, "kimi-")
}

// reminder returns the sentence that takes the place of a forced tool choice.
func reminder(choice string) string {
	if choice == "any" {
		return "Always answer with a call of one of your tools, never with text alone."
	}
	return "Answer with a call of the tool " + choice + ", not with text alone."
}

// Ask is a request as a service understands it.
type Ask struct {
	model.Request
	// Without are the parameters that the service refuses and that the request would
	// have sent.
	Without []string
}

// Lacks reports whether a parameter must not be sent.
func (a *Ask) Lacks(name string) bool { return slices.Contains(a.Without, name) }

// The parameters that are left out where a service refuses them. Their values are the
// names for people.
const (
	ToolChoice    = "tool_choice"
	Temperature   = "temperature"
	Effort        = "effort"
	Images        = "images"
	StreamOptions = "stream_options"
	MaxTokens     = "max_tokens"
	CacheControl  = "cache_control"
	Thoughts      = "thinking"
)

// adapt returns the request as the service understands it, without the parameters in
// refused. The request itself is unchanged.
func (s *Service) adapt(req model.Request, refused []string) Ask {
	a := Ask{Request: req}
	lack := func(name string, sent bool) bool {
		if sent && slices.Contains(refused, name) {
			a.Without = append(a.Without, name)
			return true
		}
		return false
	}
	if lack(Effort, req.Effort != "") {
		a.Effort = ""
	}
	if lack(Temperature, req.Temperature != nil) || a.Thinks() {
		a.Temperature = nil
	}
	forced := req.ToolChoice != "" && req.ToolChoice != "auto"
	if lack(ToolChoice, forced) || forced && !s.forces(&a.Request) {
		a.ToolChoice = ""
		a.System = strings.TrimPrefix(req.System+"\n\n"+reminder(req.ToolChoice), "\n\n")
	}
	images, thoughts := lack(Images, hasImages(&req)), lack(Thoughts, s.hasThoughts(&req))
	for _, name := range []string{StreamOptions, MaxTokens, CacheControl} {
		lack(name, true)
	}
	a.Messages = s.messages(req.Messages, images, thoughts)
	return a
}

// messages returns the messages as the service understands them: without the thinking of
// other services, or all of it, and with words in the place of images.
func (s *Service) messages(all []model.Message, noImages, noThoughts bool) []model.Message {
	out := make([]model.Message, 0, len(all))
	for _, m := range all {
		if !slices.ContainsFunc(m.Content, func(b model.Block) bool { return b.Kind == model.Thinking || len(b.Images) > 0 }) {
			out = append(out, m)
			continue
		}
		content := make([]model.Block, 0, len(m.Content))
		for _, b := range m.Content {
			switch {
			case b.Kind == model.Thinking && (noThoughts || !s.owns(b)):
				continue
			case len(b.Images) > 0 && noImages:
				b = withoutImages(b)
			}
			content = append(content, b)
		}
		if len(content) > 0 {
			out = append(out, model.Message{Role: m.Role, Content: content})
		}
	}
	return out
}

// imageLeftOut takes the place of an image.
const imageLeftOut = "[an image was left out: this model does not take images]"

// withoutImages returns a block with words in the place of its images.
func withoutImages(b model.Block) model.Block {
	if b.Kind == model.Picture {
		return model.Block{Kind: model.Text, Text: imageLeftOut}
	}
	b.Images = nil
	b.Text = strings.TrimPrefix(b.Text+"\n"+imageLeftOut, "\n")
	return b
}

// owns reports whether a thinking block is one of the service's own. A block that names
// the wire format alone is taken for that, since a program sent it back without more.
func (s *Service) owns(b model.Block) bool {
	return b.Thought != nil && b.Thought.Of != "" && (b.Thought.Of == s.thought || strings.HasPrefix(s.thought, b.Thought.Of+" "))
}

// hasThoughts reports whether a request has thinking of the service.
func (s *Service) hasThoughts(req *model.Request) bool {
	return hasBlock(req, func(b model.Block) bool { return b.Kind == model.Thinking && s.owns(b) })
}

func hasImages(req *model.Request) bool {
	return hasBlock(req, func(b model.Block) bool { return len(b.Images) > 0 })
}

func hasBlock(req *model.Request, is func(model.Block) bool) bool {
	return slices.ContainsFunc(req.Messages, func(m model.Message) bool { return slices.ContainsFunc(m.Content, is) })
}
