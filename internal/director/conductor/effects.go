package conductor

import (
	"choiros/internal/choir"
)

// effect is one event that a run appends to the log.
type effect struct {
	id      choir.ID
	task    choir.ID
	cause   choir.ID
	payload choir.Payload // a pointer
}

// finish appends the given effects, then the run's signed end and the last version of
// its document, all or none.
func (r *run) finish(end ending, before ...effect) error {
	end.answer = clipRunes(end.answer, maxAnswer)
	done := &choir.RunFinished{
		Outcome: end.outcome, Code: end.code, Answer: end.answer, Status: r.statusOf(end),
		Signature: r.ledger.sign(choir.TypeRunFinished, end.answer), Said: clipRunes(r.said, maxSaid),
	}
	made, err := r.madeEffect(done)
	if err != nil {
		return err
	}
	before = append(before, made...)
	return r.ledger.commit(append(before, effect{id: r.ledger.eventID(choir.TypeRunFinished), cause: r.rec.cause, payload: done})...)
}

// statusOf returns the status of an ending; empty unless it is an answer to something
// that is not or only partly done.
func (r *run) statusOf(end ending) choir.AnswerStatus {
	if end.outcome != choir.OutcomeDone || r.status == choir.AnsweredDone {
		return ""
	}
	return r.status
}

// maxAnswer is the maximum length of an answer, in characters, as in run.finished.
const maxAnswer = 20_000

// maxSaid is the maximum length of the model's words outside of tools in run.finished,
// in characters.
const maxSaid = 2000

// toastEffect returns the effect of the run's toast; none if it has no toast.
func (r *run) toastEffect() []effect {
	if r.toast == "" {
		return nil
	}
	toast := &choir.ToastShown{Text: r.toast, Signature: r.ledger.sign(choir.TypeToastShown, r.toast)}
	return []effect{{id: r.ledger.eventID(choir.TypeToastShown), cause: r.rec.cause, payload: toast}}
}

// proposalEffect returns the effect that adds the answer to a document as a proposal, if
// the prompt asked for one and the run gave it at least in part; else none.
func (r *run) proposalEffect() []effect {
	to := r.rec.prompt.Proposal
	if to == nil || r.ending.outcome != choir.OutcomeDone || r.status == choir.AnsweredNotDone {
		return nil
	}
	proposal := &choir.OverlayAdded{
		Overlay: r.ledger.id("overlay"), Document: to.Document, Version: to.Version, Kind: choir.OverlayProposal,
		Anchor: to.Anchor, Text: clipRunes(r.ending.answer, maxAnswer),
	}
	return []effect{{id: r.ledger.eventID(choir.TypeOverlayAdded), cause: r.rec.cause, payload: proposal}}
}

// finishOver appends budget.reached and the end of a run that reached a limit.
func (r *run) finishOver(over *reached) error {
	answer := "Stopped: " + over.Error() + ". " + r.ledger.soFar()
	budget := effect{id: r.ledger.eventID(choir.TypeBudgetReached), cause: r.rec.cause, payload: &over.BudgetReached}
	return r.finish(ending{choir.OutcomeFailed, choir.CodeBudget, answer}, budget)
}
