package modelgw

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// eventStream writes server-sent events and flushes each one. The HTTP header is sent
// with the first event, so that a call that fails before can still be answered with a
// status code.
type eventStream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	buf   bytes.Buffer
	begun bool
	gone  bool // the client cannot be written to any more
}

// event writes one server-sent event with the JSON of v as its data; an empty name
// leaves the event's name out.
func (s *eventStream) event(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.gone = true // the values are our own structs, which can be encoded
		return
	}
	s.raw(name, data)
}

// raw writes and flushes one server-sent event. It does nothing once the client is gone.
func (s *eventStream) raw(name string, data []byte) {
	if s.gone {
		return
	}
	if !s.begun {
		s.sendHeader()
	}
	s.buf.Reset()
	if name != "" {
		s.buf.WriteString("event: " + name + "\n")
	}
	s.buf.WriteString("data: ")
	s.buf.Write(data)
	s.buf.WriteString("\n\n")
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		s.gone = true
		return
	}
	s.gone = s.flush.Flush() != nil
}

func (s *eventStream) sendHeader() {
	s.begun = true
	s.flush = http.NewResponseController(s.w)
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Should-Retry", "false")
	s.w.WriteHeader(http.StatusOK)
}
