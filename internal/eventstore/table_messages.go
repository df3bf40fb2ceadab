package eventstore

import "choiros/internal/choir"

// messagesTable stores the messages of each conversation; the value is a Message.
var messagesTable = &listed{projection{
	name: "messages", since: 1, key: 2, columns: []column{keyColumn, seqColumn, valueColumn},
	on: reducers{
		choir.TypePromptSubmitted:   said(func(p *choir.PromptSubmitted) string { return p.Text }),
		choir.TypeSteeringSubmitted: said(func(p *choir.SteeringSubmitted) string { return p.Text }),
		choir.TypeQuestionAsked:     said(func(p *choir.QuestionAsked) string { return p.Question.Text }),
		choir.TypeQuestionAnswered:  said(func(p *choir.QuestionAnswered) string { return p.Text }),
		choir.TypeToastShown:        said(func(p *choir.ToastShown) string { return p.Text }),
		choir.TypeRunFinished:       on(answered),
	},
}}

// said returns a reducer that adds the text of an event to the conversation of its run.
func said[P any](text func(*P) string) reducer {
	return on(func(messages *listedRows, e *choir.Event, p *P) error { return addMessage(messages, e, text(p)) })
}

// answered adds the answer of a finished run to its conversation, unless it is empty.
func answered(messages *listedRows, e *choir.Event, p *choir.RunFinished) error {
	if p.Answer == "" {
		return nil
	}
	return addMessage(messages, e, p.Answer)
}

func addMessage(messages *listedRows, e *choir.Event, text string) error {
	return messages.addJSON(row{key: string(e.Run), seq: e.Seq},
		Message{Conversation: e.Run, Seq: e.Seq, At: e.Time, From: e.Source, Type: e.Type, Text: text})
}
