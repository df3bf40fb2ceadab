package openai

import (
	"context"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
)

// Responses implements model.Provider over OpenAI's Responses API. Nothing is stored
// there: the whole conversation is sent each time, with the thinking as it was sealed.
type Responses struct{ connection }

// NewResponses returns a provider.
func NewResponses(cfg Config) *Responses { return &Responses{connect("responses", cfg)} }

// Name implements model.Provider.
func (p *Responses) Name() string { return "responses" }

// Stream implements model.Provider.
func (p *Responses) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	return p.callService(ctx, p.Name(), req, on, p.stream)
}

// stream calls the model once and assembles the answer. The error is an
// *attempt.Failure.
func (p *Responses) stream(ctx context.Context, ask dialect.Ask, on func(model.Delta), opts []option.RequestOption) (model.Response, error) {
	service := responses.NewResponseService(opts...)
	s := service.NewStreaming(ctx, responsesParams(ask))
	defer s.Close()
	a := items{on: on, thought: p.service.Thought(), resp: model.Response{Model: ask.Model}}
	for !a.closed && s.Next() {
		if err := a.applyEvent(s.Current()); err != nil {
			return a.counted(), err
		}
	}
	if err := s.Err(); err != nil && !a.closed {
		return a.counted(), failure(ctx, err)
	}
	if !a.closed {
		return a.counted(), attempt.Cut()
	}
	return a.resp, nil
}
