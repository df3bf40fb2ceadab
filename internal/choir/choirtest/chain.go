package choirtest

import (
	"slices"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// Draft generates drafts of the types that the role may append, with a run where the type
// requires one.
func Draft(role choir.Role) *rapid.Generator[choir.Draft] {
	infos := slices.DeleteFunc(choir.Types(), func(i choir.TypeInfo) bool { return !i.MayAppend(role) })
	return rapid.Custom(func(t *rapid.T) choir.Draft {
		info := rapid.SampledFrom(infos).Draw(t, "type")
		d, err := choir.NewDraft(ID().Draw(t, "id"), Payload(info).Draw(t, "payload"))
		if err != nil {
			t.Fatal(err)
		}
		if info.Run {
			d = d.ForRun(ID().Draw(t, "run"), "")
		}
		return d
	})
}

// Chain generates the log of one computer: minLen to maxLen sealed and linked events of
// any types, numbered from 1.
func Chain(minLen, maxLen int) *rapid.Generator[[]choir.Event] {
	return rapid.Custom(func(t *rapid.T) []choir.Event {
		computer, user := ID().Draw(t, "computer"), ID().Draw(t, "user")
		prev := choir.ZeroHash
		log := make([]choir.Event, rapid.IntRange(minLen, maxLen).Draw(t, "events"))
		for i := range log {
			role := rapid.SampledFrom(writers).Draw(t, "role")
			d := Draft(role).Draw(t, "draft")
			e := choir.Event{
				Seq: uint64(i + 1), ID: d.ID, Time: Time().Draw(t, "time"), Computer: computer, User: user,
				Source: role.Source(), Type: d.Type, Run: d.Run, Payload: d.Payload,
			}
			if _, err := choir.SealEvent(&e, prev); err != nil {
				t.Fatal(err)
			}
			prev, log[i] = e.Hash, e
		}
		return log
	})
}

var writers = slices.DeleteFunc(choir.Roles(), func(r choir.Role) bool {
	return !slices.ContainsFunc(choir.Types(), func(i choir.TypeInfo) bool { return i.MayAppend(r) })
})
