package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"choiros/internal/model"
)

// Biller is a model service that bills each request for its input and the output
// generated, also if the client disconnects or the stream breaks. It streams Anthropic
// Messages at /v1/messages and OpenAI chat completions at /chat/completions.
type Biller struct {
	*httptest.Server
	// Pieces is the number of pieces of an answer, unless max_tokens allows fewer.
	Pieces int
	// Pace releases one piece for each value; nil releases all at once.
	Pace chan struct{}
	// Break returns the number of pieces after which the nth request, from 1, loses its
	// connection; negative for never. Nil breaks none.
	Break func(n int) int

	mu    sync.Mutex // guards the fields below
	bills []Bill
	n     int
}

// Bill is the billed usage of one request, in tokens.
type Bill struct {
	Input, Output int64
	Whole         bool // the answer came to its end
}

// pieceText is one piece of an answer, which is pieceTokens tokens.
const (
	pieceText   = "words, words"
	pieceTokens = 3
)

// NewBiller starts a service whose answers have the given number of pieces. Close stops
// it.
func NewBiller(pieces int) *Biller {
	b := &Biller{Pieces: pieces}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	return b
}

// Bills returns the bills in the order in which the requests ended.
func (b *Biller) Bills() []Bill {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Bill(nil), b.bills...)
}

// Asked returns the number of requests.
func (b *Biller) Asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func (b *Biller) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var asked struct {
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	b.n++
	n := b.n
	b.mu.Unlock()
	bill := Bill{Input: inputTokens(body)}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bills = append(b.bills, bill)
	}()
	breaks := -1
	if b.Break != nil {
		breaks = b.Break(n)
	}
	pieces := min(b.Pieces, max(asked.MaxTokens, asked.MaxCompletionTokens)/pieceTokens)
	b.generate(w, r, &bill, pieces, breaks)
}

// generate streams an answer and bills each piece before it is sent. It breaks the
// connection after the given number of pieces; never if that is negative.
func (b *Biller) generate(w http.ResponseWriter, r *http.Request, bill *Bill, pieces, breaks int) {
	head, tail := b.frames(r, model.Response{
		Model: "billed-1", Stop: model.StopEnd, Usage: model.Usage{Input: bill.Input, Output: int64(pieces) * pieceTokens},
		Content: []model.Block{{Kind: model.Text}},
	})
	w.Header().Set("Content-Type", "text/event-stream")
	if !send(w, head) {
		return
	}
	for i := range pieces {
		if i == breaks {
			panic(http.ErrAbortHandler)
		}
		if b.Pace != nil {
			select {
			case <-b.Pace:
			case <-r.Context().Done():
				return
			}
		}
		if r.Context().Err() != nil {
			return
		}
		bill.Output += pieceTokens
		if !send(w, b.piece(r)) {
			return
		}
	}
	bill.Whole = send(w, tail)
}

// frames returns the stream of an empty answer in two parts, before and after the text.
func (b *Biller) frames(r *http.Request, resp model.Response) (head, tail []byte) {
	events, at := anthropicEvents(resp), 3
	if isOpenAI(r) {
		events, at = openaiEvents(resp), 1
	}
	frames := sse(events)
	return bytes.Join(frames[:at], nil), bytes.Join(frames[at:], nil)
}

// piece returns one piece of text in the wire format of the request.
func (b *Biller) piece(r *http.Request) []byte {
	if isOpenAI(r) {
		return fmt.Appendf(nil, "data: %s\n\n", jsonf(`{"id":"chatcmpl-test","object":"chat.completion.chunk","created":1,"model":"billed-1","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quote(pieceText)))
	}
	return fmt.Appendf(nil, "event: content_block_delta\ndata: %s\n\n", jsonf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, quote(pieceText)))
}

func isOpenAI(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/chat/completions") }

// send writes and flushes a frame; false if the client is gone.
func send(w http.ResponseWriter, frame []byte) bool {
	if _, err := w.Write(frame); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}

// inputTokens returns the billed input of a request: the bytes of its strings at four
// per token.
func inputTokens(body []byte) int64 {
	size := 0
	for dec := json.NewDecoder(bytes.NewReader(body)); ; {
		t, err := dec.Token()
		if err != nil {
			return int64(size/4 + 1)
		}
		if s, ok := t.(string); ok {
			size += len(s)
		}
	}
}
