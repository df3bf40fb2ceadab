package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"choiros/internal/model"
)

// Wire is a provider's wire format.
type Wire string

// The wire formats.
const (
	Anthropic Wire = "anthropic"
	OpenAI    Wire = "openai"
	Bedrock   Wire = "bedrock"
	Responses Wire = "responses"
)

// Step describes the server's answer to one request. The zero value answers with an
// empty message; faults are set one at a time.
type Step struct {
	Answer model.Response // streamed in pieces

	Split    int           // bytes per write of the stream; 0 writes event by event
	SplitAt  int           // the stream in two writes, cut before this byte
	Delay    time.Duration // before each write
	CutAfter int           // with Cut: the number of events that still come
	Cut      Cut           // how the stream is cut

	Malformed   bool   // the third event is no JSON
	StreamError string // type of an error event after the second event
	ContentType string // instead of the right one; the body is an HTML page
	Hang        bool   // after the second event nothing comes, until the client leaves

	Status     int    // an HTTP error instead of a stream
	RetryAfter string // its Retry-After header
	Location   string // its Location header
	Message    string // its message; {{auth}} becomes the credentials of the request
}

// Cut is the way in which a stream is cut.
type Cut int

// The ways: not at all, by an end that looks regular, by a broken connection.
const (
	NoCut Cut = iota
	CutClean
	CutBroken
)

// Request is a request as the server received it.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Server answers each request by its next step. The last step is repeated.
type Server struct {
	*httptest.Server
	wire Wire

	mu       sync.Mutex // guards the fields below
	steps    []Step
	requests []Request
	arrived  chan struct{}
}

// Arrived returns a channel that receives a value for each request.
func (s *Server) Arrived() <-chan struct{} { return s.arrived }

// maxArrivals is the maximum of unread values of Arrived.
const maxArrivals = 1 << 14

// NewServer starts a server. Close stops it.
func NewServer(wire Wire, steps ...Step) *Server {
	s := &Server{wire: wire, steps: steps, arrived: make(chan struct{}, maxArrivals)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.URL.Path, r.Header.Clone(), body})
	step := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	switch {
	case step.Status != 0:
		s.refuse(w, r, step)
	case step.ContentType != "":
		w.Header().Set("Content-Type", step.ContentType)
		_, _ = io.WriteString(w, "<html><body>a portal wants you to sign in</body></html>")
	default:
		s.stream(w, r, step)
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, step Step) {
	auth := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
	message := strings.ReplaceAll(step.Message, "{{auth}}", auth)
	if step.RetryAfter != "" {
		w.Header().Set("Retry-After", step.RetryAfter)
	}
	if step.Location != "" {
		w.Header().Set("Location", step.Location)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(step.Status)
	switch s.wire {
	case Anthropic:
		_, _ = w.Write(anthropicError("api_error", message))
	case OpenAI, Responses:
		_, _ = w.Write(openaiError("server_error", message))
	case Bedrock:
		_, _ = w.Write(jsonf(`{"message":%s}`, quote(message)))
	}
}

// frames returns the whole stream of a step, event by event.
func (s *Server) frames(step Step) [][]byte {
	var events []event
	switch s.wire {
	case OpenAI:
		events = openaiEvents(step.Answer)
	case Responses:
		events = responsesEvents(step.Answer)
	default:
		events = anthropicEvents(step.Answer)
	}
	if step.Malformed {
		events[2].data = []byte(`{"type":"content_block_start","index"`)
	}
	if s.wire != Bedrock {
		if step.StreamError != "" {
			events = append(events[:2], s.errorEvent(step.StreamError))
		}
		return sse(events)
	}
	if step.StreamError != "" {
		return append(eventStream(events[:2]), exceptionFrame(step.StreamError, "it went wrong"))
	}
	return eventStream(events)
}

func (s *Server) errorEvent(kind string) event {
	if s.wire == OpenAI {
		return event{"", openaiError(kind, "it went wrong")}
	}
	if s.wire == Responses {
		return event{"error", jsonf(`{"type":"error","sequence_number":2,"code":%s,"message":"it went wrong","param":null}`, quote(kind))}
	}
	return event{"error", anthropicError(kind, "it went wrong")}
}

// stream streams the answer of a step, split and cut as the step describes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, step Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	if s.wire == Bedrock {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	frames := s.frames(step)
	switch {
	case step.Hang:
		frames = frames[:2]
	case step.Cut != NoCut:
		frames = frames[:min(step.CutAfter, len(frames))]
	}
	if all := bytes.Join(frames, nil); step.Split > 0 {
		frames = split(all, step.Split)
	} else if step.SplitAt > 0 && step.SplitAt < len(all) {
		frames = [][]byte{all[:step.SplitAt], all[step.SplitAt:]}
	}
	if !s.write(w, r, frames, step.Delay) {
		return
	}
	if step.Hang {
		<-r.Context().Done()
	}
	if step.Cut == CutBroken {
		panic(http.ErrAbortHandler)
	}
}

// write writes frames with a delay before each; false if the client is gone.
func (s *Server) write(w http.ResponseWriter, r *http.Request, frames [][]byte, delay time.Duration) bool {
	flush := http.NewResponseController(w)
	for _, f := range frames {
		if delay > 0 && !sleep(r, delay) {
			return false
		}
		if _, err := w.Write(f); err != nil {
			return false
		}
		if flush.Flush() != nil {
			return false
		}
	}
	return true
}

// Stream returns the whole stream of an answer.
func Stream(wire Wire, answer model.Response) []byte {
	return bytes.Join((&Server{wire: wire}).frames(Step{Answer: answer}), nil)
}

// StreamSize returns the number of bytes and of events of an answer's stream.
func (s *Server) StreamSize(answer model.Response) (size, events int) {
	frames := s.frames(Step{Answer: answer})
	return len(bytes.Join(frames, nil)), len(frames)
}

// split splits b into pieces of n bytes.
func split(b []byte, n int) [][]byte {
	var out [][]byte
	for len(b) > n {
		out = append(out, b[:n])
		b = b[n:]
	}
	return append(out, b)
}
