package conductor

import (
	"context"
	"fmt"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// questionInput is the input of ask_user.
type questionInput struct {
	ID      string   `json:"id,omitempty" choir:"len=1..64"`
	Text    string   `json:"text" choir:"len=1..4000"`
	Choices []string `json:"choices,omitempty" choir:"len=0..16,each=1..400"`
}

// askUser is the tool ask_user: it asks the user a question and returns the answer.
func (r *run) askUser(ctx context.Context, call model.Block) (agentloop.Result, error) {
	var in questionInput
	if err := choir.DecodeStrict(call.Input, &in); err != nil {
		return refuse(err)
	}
	if r.questionID[in.ID] {
		return refuse(choir.Invalid("id", "%q was asked before; leave the id out or choose another", in.ID))
	}
	if r.questions >= maxQuestions && !r.rec.wasAsked(in.ID) {
		return refuse(choir.E("", choir.CodeBudget, "%d questions were asked; decide with what you know", r.questions))
	}
	text, err := r.ask(ctx, choir.Question(in))
	return textResult("The user answered:\n"+text, err)
}

// maxQuestions is the maximum of questions in one run.
const maxQuestions = 20

// ask records a question to the user and waits for the answer. Meanwhile the run gives
// up its slot, so that other runs can work.
func (r *run) ask(ctx context.Context, q choir.Question) (string, error) {
	r.questions++
	for n := r.questions; q.ID == "" || r.questionID[q.ID]; n++ {
		q.ID = fmt.Sprintf("q%d", n)
	}
	r.questionID[q.ID] = true
	asked := effect{id: r.ledger.eventID(choir.TypeQuestionAsked, q.ID), cause: r.rec.cause, payload: &choir.QuestionAsked{Question: q}}
	if err := r.ledger.commit(append(r.ledger.documentEffect(), asked)...); err != nil {
		return "", err
	}
	r.slot.leave()
	a, err := r.rec.answer(ctx, q.ID)
	if err != nil {
		return "", err
	}
	r.ledger.updateStory(&a)
	return a.Text, r.slot.acquire(ctx)
}
