package conductor

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/director/runwriter"
)

// eventLog appends events, and stores content that is too large for them; see Log.
type eventLog interface {
	Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error)
	PutBlob(ctx context.Context, content []byte) (choir.Digest, error)
}

// ledger appends the effects of one execution of a run to the log, each with the next version of
// the run's document.
type ledger struct {
	log  eventLog
	key  ed25519.PrivateKey
	rec  *record
	life context.Context // ends with the Director, not with the run

	story    runwriter.Story
	document choir.ID // empty while there is none
	version  int      // of the document
	untold   bool     // the story went on since the last version
}

// maxTaken is the maximum of ids in a row that events of others may hold.
const maxTaken = 16

// commit appends effects and, if the run has a document, its next version, all or none.
// The user's stop does not interrupt it, because whether an append happened must be
// known before the run can end.
func (l *ledger) commit(effects ...effect) error {
	before := l.version
	err := l.append(effects)
	if err != nil && l.version > before {
		l.version, l.untold = before, true
	}
	return err
}

// append applies effects to the story and appends them with the document's next version.
func (l *ledger) append(effects []effect) error {
	for _, e := range effects {
		l.updateStory(e.payload)
	}
	version, err := l.nextVersion()
	if err != nil {
		return err
	}
	if version != nil {
		effects = append(effects, *version)
	}
	return l.appendEffects(effects)
}

// updateStory applies the payload of an event to the story.
func (l *ledger) updateStory(p choir.Payload) {
	if l.story.Apply(p) {
		l.untold = true
	}
}

// nextVersion returns the effect of the document's next version; nil without a document
// or a change.
func (l *ledger) nextVersion() (*effect, error) {
	if l.document == "" || !l.untold {
		return nil, nil
	}
	l.untold = false
	l.version++
	payload := &choir.DocumentVersioned{Document: l.document, Version: l.version, Content: l.story.Markdown()}
	raw, err := choir.Canonical(payload)
	if err == nil && len(raw) > choir.InlineLimit {
		payload.Blob, err = l.log.PutBlob(l.life, []byte(payload.Content))
		payload.Content = ""
	}
	return &effect{id: l.eventID(choir.TypeDocumentVersioned, l.version), cause: l.rec.cause, payload: payload}, err
}

// documentEffect returns the effect that creates the run's document; none if it has one.
// It is not called for runs that end with a toast.
func (l *ledger) documentEffect() []effect {
	if l.document != "" {
		return nil
	}
	l.document = l.id("document")
	created := &choir.DocumentCreated{Document: l.document, Title: runwriter.Title(l.rec.prompt.Text), Content: l.rec.prompt.Text}
	// A prompt of 20,000 characters may be longer than an event; its own event
	// and the versions after this one have all of it.
	if raw, err := choir.Canonical(created); err == nil && len(raw) > choir.InlineLimit {
		created.Content = clipHead(created.Content, choir.InlineLimit/8)
	}
	return []effect{{id: l.eventID(choir.TypeDocumentCreated), cause: l.rec.cause, payload: created}}
}

// appendEffects appends effects, all or none. Effects recorded by an earlier execution
// stay as they are, even if this one would word them differently, since limits or the
// key may have changed. An id held by an event of another source is replaced by one
// derived from that event, the same in every execution.
func (l *ledger) appendEffects(effects []effect) error {
	for taken := 0; len(effects) > 0; {
		drafts, err := l.drafts(effects)
		if err != nil {
			return err
		}
		_, i, err := choir.AppendAs(l.life, choir.SourceDirector, drafts, l.freshID(), l.log.Append)
		first := choir.FirstOf(err)
		switch {
		case first == nil:
			return err
		case first.Says(choir.SourceDirector, drafts[i].Type):
			if effects, err = l.dropRecorded(effects, i); err != nil {
				return err
			}
		case taken < maxTaken && l.rename(effects, i, first):
			taken++
		default:
			return err
		}
	}
	return nil
}

// drafts returns effects as drafts of events of this run.
func (l *ledger) drafts(effects []effect) ([]choir.Draft, error) {
	drafts := make([]choir.Draft, len(effects))
	for i, e := range effects {
		d, err := choir.NewDraft(e.id, e.payload)
		if err != nil {
			return nil, err
		}
		drafts[i] = d.ForRun(l.rec.run, e.task).CausedBy(e.cause)
	}
	return drafts, nil
}

// freshID returns a function that derives another id from the event that holds the
// wanted one. After maxTaken tries the id also depends on this process's key, so that no
// one can hold them all.
func (l *ledger) freshID() func(*choir.First) (choir.ID, error) {
	n := 0
	return func(taken *choir.First) (choir.ID, error) {
		words := []string{string(taken.Hash)}
		if n++; n > maxTaken {
			words = append(words, base64.StdEncoding.EncodeToString(ed25519.Sign(l.key, []byte("choir id 1\n"+string(taken.Hash)))))
		}
		return choir.DeriveID(taken.ID, words...), nil
	}
}

// dropRecorded removes effect i, which is in the log, from effects. The content of a
// recorded document version goes into the next version.
func (l *ledger) dropRecorded(effects []effect, i int) ([]effect, error) {
	_, version := effects[i].payload.(*choir.DocumentVersioned)
	effects = slices.Delete(slices.Clone(effects), i, i+1)
	if !version {
		return effects, nil
	}
	l.untold = true
	if !slices.ContainsFunc(effects, func(e effect) bool { return e.payload.EventType() == choir.TypeRunFinished }) {
		return effects, nil
	}
	next, err := l.nextVersion()
	if err != nil {
		return nil, err
	}
	return append(effects, *next), nil
}

// rename gives the task or the document that effect i creates another id, because an
// event of another source created one with its id. false: the effect creates neither.
func (l *ledger) rename(effects []effect, i int, first *choir.First) bool {
	switch p := effects[i].payload.(type) {
	case *choir.TaskDispatched:
		old := p.Task.TaskID
		p.Task.TaskID = choir.DeriveID(old, string(first.Hash))
		l.story.Rename(old, p.Task.TaskID)
		effects[i].id, effects[i].task = l.eventID(choir.TypeTaskDispatched, p.Task.TaskID), p.Task.TaskID
	case *choir.DocumentCreated:
		old := p.Document
		p.Document = choir.DeriveID(old, string(first.Hash))
		if l.document == old {
			l.document = p.Document
		}
		for _, e := range effects {
			switch o := e.payload.(type) {
			case *choir.DocumentVersioned:
				if o.Document == old {
					o.Document = p.Document
				}
			case *choir.RunFinished:
				if o.Document == old {
					o.Document = p.Document
				}
			}
		}
	default:
		return false
	}
	return true
}

// adopt replaces this execution's document by the recorded one, if a stop or a limit
// ended this execution before it reached the recorded version.
func (l *ledger) adopt() {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	if l.rec.version <= l.version {
		return
	}
	l.document, l.version = l.rec.document, l.rec.version
	l.story = runwriter.Story{}
	l.updateStory(&l.rec.prompt)
	for _, p := range l.rec.history {
		l.updateStory(p)
	}
}

// soFar describes the progress of the plan in one sentence.
func (l *ledger) soFar() string {
	done, total := l.story.Progress()
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

// sign returns the base64 signature of a text for the user with this process's key.
func (l *ledger) sign(t choir.Type, text string) string {
	sig := ed25519.Sign(l.key, choir.SignedText(t, l.rec.run, text))
	return base64.StdEncoding.EncodeToString(sig)
}

// eventID returns the id of an event of this run; see id.
func (l *ledger) eventID(t choir.Type, parts ...any) choir.ID { return l.id(string(t), parts...) }

// id returns the id of an effect of this run, derived from its parts: the same in every
// execution.
func (l *ledger) id(kind string, parts ...any) choir.ID {
	words := []string{kind}
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			words = append(words, strconv.Itoa(p))
		case string:
			words = append(words, p)
		case choir.ID:
			words = append(words, string(p))
		}
	}
	return choir.DeriveID(l.rec.run, words...)
}
