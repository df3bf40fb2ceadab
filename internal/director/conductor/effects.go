package conductor

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/director/runwriter"
)

// effect is one event that a run appends to the log.
type effect struct {
	id      choir.ID
	task    choir.ID
	cause   choir.ID
	payload choir.Payload // a pointer
}

// commit appends effects and, if the run has a document, its next version, all or none.
// The user's stop does not interrupt it, because whether an append happened must be
// known before the run can end.
func (r *run) commit(effects ...effect) error {
	before := r.version
	err := r.append(effects)
	if err != nil && r.version > before {
		r.version, r.untold = before, true
	}
	return err
}

// append applies effects to the story and appends them with the document's next version.
func (r *run) append(effects []effect) error {
	for _, e := range effects {
		r.updateStory(e.payload)
	}
	version, err := r.nextVersion()
	if err != nil {
		return err
	}
	if version != nil {
		effects = append(effects, *version)
	}
	return r.appendEffects(effects)
}

// updateStory applies the payload of an event to the story.
func (r *run) updateStory(p choir.Payload) {
	if r.story.Apply(p) {
		r.untold = true
	}
}

// nextVersion returns the effect of the document's next version; nil without a document
// or a change.
func (r *run) nextVersion() (*effect, error) {
	if r.document == "" || !r.untold {
		return nil, nil
	}
	r.untold = false
	r.version++
	payload := &choir.DocumentVersioned{Document: r.document, Version: r.version, Content: r.story.Markdown()}
	raw, err := choir.Canonical(payload)
	if err == nil && len(raw) > choir.InlineLimit {
		payload.Blob, err = r.cfg.Log.PutBlob(r.life, []byte(payload.Content))
		payload.Content = ""
	}
	return &effect{id: r.eventID(choir.TypeDocumentVersioned, r.version), cause: r.rec.cause, payload: payload}, err
}

// documentEffect returns the effect that creates the run's document; none if it has one.
// It is not called for runs that end with a toast.
func (r *run) documentEffect() []effect {
	if r.document != "" {
		return nil
	}
	r.document = r.id("document")
	created := &choir.DocumentCreated{Document: r.document, Title: runwriter.Title(r.rec.prompt.Text), Content: r.rec.prompt.Text}
	// A prompt of 20,000 characters may be longer than an event; its own event
	// and the versions after this one have all of it.
	if raw, err := choir.Canonical(created); err == nil && len(raw) > choir.InlineLimit {
		created.Content = clipHead(created.Content, choir.InlineLimit/8)
	}
	return []effect{{id: r.eventID(choir.TypeDocumentCreated), cause: r.rec.cause, payload: created}}
}

// finish appends the given effects, then the run's signed end and the last version of
// its document, all or none.
func (r *run) finish(end ending, before ...effect) error {
	end.answer = clipRunes(end.answer, maxAnswer)
	done := &choir.RunFinished{
		Outcome: end.outcome, Code: end.code, Answer: end.answer, Status: r.statusOf(end),
		Signature: r.sign(choir.TypeRunFinished, end.answer), Said: clipRunes(r.said, maxSaid),
	}
	made, err := r.madeEffect(done)
	if err != nil {
		return err
	}
	before = append(before, made...)
	return r.commit(append(before, effect{id: r.eventID(choir.TypeRunFinished), cause: r.rec.cause, payload: done})...)
}

// statusOf returns the status of an ending; empty unless it is an answer to something
// that is not or only partly done.
func (r *run) statusOf(end ending) choir.AnswerStatus {
	if end.outcome != choir.OutcomeDone || r.status == choir.AnsweredDone {
		return ""
	}
	return r.status
}

// adopt replaces this execution's document by the recorded one, if a stop or a limit
// ended this execution before it reached the recorded version.
func (r *run) adopt() {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	if r.rec.version <= r.version {
		return
	}
	r.document, r.version = r.rec.document, r.rec.version
	r.story = runwriter.Story{}
	r.updateStory(&r.rec.prompt)
	for _, p := range r.rec.history {
		r.updateStory(p)
	}
}

// soFar describes the progress of the plan in one sentence.
func (r *run) soFar() string {
	done, total := r.story.Progress()
	switch {
	case total == 0:
		return "There was no plan yet and nothing was changed."
	case total == 1 && done == 0:
		return "The one step of the plan was not accepted."
	case done == 0:
		return fmt.Sprintf("None of the %d steps of the plan was accepted.", total)
	}
	if total == 1 {
		return "The one step of the plan was accepted; what it changed is kept."
	}
	return fmt.Sprintf("%d of the %d steps of the plan were accepted; what they changed is kept.", done, total)
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
	toast := &choir.ToastShown{Text: r.toast, Signature: r.sign(choir.TypeToastShown, r.toast)}
	return []effect{{id: r.eventID(choir.TypeToastShown), cause: r.rec.cause, payload: toast}}
}

// proposalEffect returns the effect that adds the answer to a document as a proposal, if
// the prompt asked for one and the run gave it at least in part; else none.
func (r *run) proposalEffect() []effect {
	to := r.rec.prompt.Proposal
	if to == nil || r.ending.outcome != choir.OutcomeDone || r.status == choir.AnsweredNotDone {
		return nil
	}
	proposal := &choir.OverlayAdded{
		Overlay: r.id("overlay"), Document: to.Document, Version: to.Version, Kind: choir.OverlayProposal,
		Anchor: to.Anchor, Text: clipRunes(r.ending.answer, maxAnswer),
	}
	return []effect{{id: r.eventID(choir.TypeOverlayAdded), cause: r.rec.cause, payload: proposal}}
}

// finishOver appends budget.reached and the end of a run that reached a limit.
func (r *run) finishOver(over *reached) error {
	answer := "Stopped: " + over.Error() + ". " + r.soFar()
	budget := effect{id: r.eventID(choir.TypeBudgetReached), cause: r.rec.cause, payload: &over.BudgetReached}
	return r.finish(ending{choir.OutcomeFailed, choir.CodeBudget, answer}, budget)
}

// sign returns the base64 signature of a text for the user with this process's key.
func (r *run) sign(t choir.Type, text string) string {
	sig := ed25519.Sign(r.cfg.Key, choir.SignedText(t, r.rec.run, text))
	return base64.StdEncoding.EncodeToString(sig)
}
