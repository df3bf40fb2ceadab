package conductor

import (
	"encoding/base64"
	"slices"

	"crypto/ed25519"

	"choiros/internal/choir"
)

// maxTaken is the maximum of ids in a row that events of others may hold.
const maxTaken = 16

// appendEffects appends effects, all or none. Effects recorded by an earlier execution
// stay as they are, even if this one would word them differently, since limits or the
// key may have changed. An id held by an event of another source is replaced by one
// derived from that event, the same in every execution.
func (r *run) appendEffects(effects []effect) error {
	for taken := 0; len(effects) > 0; {
		drafts, err := r.drafts(effects)
		if err != nil {
			return err
		}
		_, i, err := choir.AppendAs(r.life, choir.SourceDirector, drafts, r.freshID(), r.cfg.Log.Append)
		first := choir.FirstOf(err)
		switch {
		case first == nil:
			return err
		case first.Says(choir.SourceDirector, drafts[i].Type):
			if effects, err = r.dropRecorded(effects, i); err != nil {
				return err
			}
		case taken < maxTaken && r.rename(effects, i, first):
			taken++
		default:
			return err
		}
	}
	return nil
}

// drafts returns effects as drafts of events of this run.
func (r *run) drafts(effects []effect) ([]choir.Draft, error) {
	drafts := make([]choir.Draft, len(effects))
	for i, e := range effects {
		d, err := choir.NewDraft(e.id, e.payload)
		if err != nil {
			return nil, err
		}
		drafts[i] = d.ForRun(r.rec.run, e.task).CausedBy(e.cause)
	}
	return drafts, nil
}

// freshID returns a function that derives another id from the event that holds the
// wanted one. After maxTaken tries the id also depends on this process's key, so that no
// one can hold them all.
func (r *run) freshID() func(*choir.First) (choir.ID, error) {
	n := 0
	return func(taken *choir.First) (choir.ID, error) {
		words := []string{string(taken.Hash)}
		if n++; n > maxTaken {
			words = append(words, base64.StdEncoding.EncodeToString(ed25519.Sign(r.cfg.Key, []byte("choir id 1\n"+string(taken.Hash)))))
		}
		return choir.DeriveID(taken.ID, words...), nil
	}
}

// dropRecorded removes effect i, which is in the log, from effects. The content of a
// recorded document version goes into the next version.
func (r *run) dropRecorded(effects []effect, i int) ([]effect, error) {
	_, version := effects[i].payload.(*choir.DocumentVersioned)
	effects = slices.Delete(slices.Clone(effects), i, i+1)
	if !version {
		return effects, nil
	}
	r.untold = true
	if !slices.ContainsFunc(effects, func(e effect) bool { return e.payload.EventType() == choir.TypeRunFinished }) {
		return effects, nil
	}
	next, err := r.nextVersion()
	if err != nil {
		return nil, err
	}
	return append(effects, *next), nil
}

// rename gives the task or the document that effect i creates another id, because an
// event of another source created one with its id. false: the effect creates neither.
func (r *run) rename(effects []effect, i int, first *choir.First) bool {
	switch p := effects[i].payload.(type) {
	case *choir.TaskDispatched:
		old := p.Task.TaskID
		p.Task.TaskID = choir.DeriveID(old, string(first.Hash))
		r.story.Rename(old, p.Task.TaskID)
		effects[i].id, effects[i].task = r.eventID(choir.TypeTaskDispatched, p.Task.TaskID), p.Task.TaskID
	case *choir.DocumentCreated:
		old := p.Document
		p.Document = choir.DeriveID(old, string(first.Hash))
		if r.document == old {
			r.document = p.Document
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
