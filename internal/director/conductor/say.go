package conductor

import (
	"encoding/base64"
	"slices"

	"crypto/ed25519"

	"choiros/internal/choir"
)

// maxTaken is how many times in a row a name of this run may be found in the
// hands of others.
const maxTaken = 16

// say appends effects, all or nothing. What an earlier execution of the run said
// stands as it is, also where this one would say it in other words: the limits or
// the key of the process may be others since. Names that others took are replaced
// by names that follow from the events that have them, the same in every
// execution.
func (r *run) say(effects []effect) error {
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
			if effects, err = r.saidBefore(effects, i); err != nil {
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

// freshID gives the ids of events whose own are held by events of others. After a
// few they follow from the key of this process, so that nobody can hold them all.
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

// saidBefore takes out an effect that is in the log. What a version of the document
// would tell goes into the next one.
func (r *run) saidBefore(effects []effect, i int) ([]effect, error) {
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

// rename gives the task or the document of an effect another id when somebody
// else has made one of that id; false where there is nothing to rename.
func (r *run) rename(effects []effect, i int, first *choir.First) bool {
	switch p := effects[i].payload.(type) {
	case *choir.TaskDispatched:
		old := p.Task.TaskID
		p.Task.TaskID = choir.DeriveID(old, string(first.Hash))
		r.story.Rename(old, p.Task.TaskID)
		effects[i].id, effects[i].task = r.eventID(choir.TypeTaskDispatched, p.Task.TaskID), p.Task.TaskID
	case *choir.DocumentCreated:
		p.Document = choir.DeriveID(p.Document, string(first.Hash))
		r.document = p.Document
		for _, e := range effects {
			if v, ok := e.payload.(*choir.DocumentVersioned); ok {
				v.Document = p.Document
			}
		}
	default:
		return false
	}
	return true
}
