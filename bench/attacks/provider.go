package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// provider speaks the wire format of OpenAI's chat completions and bills each
// call when it begins, as providers do.
type provider struct {
	mu     sync.Mutex // guards ledger
	ledger ledger
}

// ledger counts the requests to the provider; GET /ledger answers it.
type ledger struct {
	Calls         int `json:"calls"`
	InputTokens   int `json:"input_tokens"`
	OutputTokens  int `json:"output_tokens"`
	UnknownModels int `json:"unknown_models"`
	EvilHeaders   int `json:"evil_headers"`
}

const (
	// model is the only model of the provider.
	model = "associate"
	// priceSetting is its price in the configuration.
	priceSetting = "[[models.price]]\nmodel = \"associate\"\ninput = 1\noutput = 4\n"

	callInput  = 1000
	callPieces = 200
)

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int      `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// ServeHTTP streams 200 pieces of ten tokens, or answers GET /ledger.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ledger" {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(p.ledger) // the reader may have gone
		return
	}
	var asked struct{ Model string }
	if json.NewDecoder(r.Body).Decode(&asked) != nil {
		http.Error(w, "not a call", http.StatusBadRequest)
		return
	}
	p.note(asked.Model, r.Header)
	p.stream(w)
}

func (p *provider) note(asked string, header http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ledger.Calls++
	p.ledger.InputTokens += callInput
	if asked != model {
		p.ledger.UnknownModels++
	}
	if header.Get("X-Evil") != "" || header.Get("X-Smuggle") != "" {
		p.ledger.EvilHeaders++
	}
}

func (p *provider) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	send := func(c chunk) bool {
		c.ID, c.Object, c.Created, c.Model = "c1", "chat.completion.chunk", 1, model
		b, err := json.Marshal(c)
		if err != nil {
			return false
		}
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
		return err == nil && flush.Flush() == nil
	}
	for i := range callPieces {
		if !send(chunk{Choices: []choice{{Delta: delta{Role: "assistant", Content: fmt.Sprintf("word%d and some more words of it ", i)}}}}) {
			return
		}
		p.mu.Lock()
		p.ledger.OutputTokens += 10
		p.mu.Unlock()
	}
	stop := "stop"
	send(chunk{Choices: []choice{{FinishReason: &stop}}})
	send(chunk{Choices: []choice{}, Usage: &usage{callInput, 10 * callPieces, callInput + 10*callPieces}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
