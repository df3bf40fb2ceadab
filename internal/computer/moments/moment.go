package moments

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

// Moment is the state of the computer after an event, as far as the log has it.
type Moment struct {
	Seq       uint64                `json:"seq"`
	At        choir.Time            `json:"at"`
	Text      string                `json:"text,omitempty" doc:"What happened then, in words."`
	Type      choir.Type            `json:"type" doc:"Type of the event."`
	Run       choir.ID              `json:"run,omitempty"`
	Task      choir.ID              `json:"task,omitempty"`
	Snapshot  choir.Digest          `json:"snapshot,omitempty" doc:"The whole workspace; absent before the first one was taken."`
	TakenSeq  uint64                `json:"taken_seq,omitempty" doc:"Event that recorded that snapshot."`
	Collected bool                  `json:"collected,omitempty" doc:"The files of this moment were collected: it was between two tool calls, long ago."`
	LeftOut   []string              `json:"left_out,omitempty" doc:"Caches over storage.cache_mb, which no snapshot has: a rewind leaves them as they are."`
	LeftOver  []choir.LeftPath      `json:"left_over,omitempty" doc:"Other paths that no snapshot has, with the reason: a rewind leaves them as they are."`
	Files     int64                 `json:"files" doc:"Files and links in the workspace, without those in .git folders."`
	Bytes     int64                 `json:"bytes" doc:"Bytes of their content."`
	Documents []eventstore.Document `json:"documents" doc:"At the versions they had, without content."`
	Windows   []eventstore.Window   `json:"windows" doc:"The lowest first."`
	Settings  []eventstore.Setting  `json:"settings" doc:"What is not at its default, the theme too."`
	Head      uint64                `json:"head" doc:"The newest event of the log now."`
}

// At returns the state of the computer after event seq. It reads only the log and
// stored content. Code not_found: the log has no such event; invalid: seq is 0.
func (ms *Moments) At(ctx context.Context, seq uint64) (m Moment, err error) {
	if err := ms.log.MustHave(seq); err != nil {
		return m, err
	}
	e, err := ms.log.At(ctx, seq)
	if err != nil {
		return m, err
	}
	m = Moment{Seq: seq, At: e.Time, Type: e.Type, Text: timeline.Say(&e), Run: e.Run, Task: e.Task}
	m.Head, _ = ms.log.Head()
	if m.Documents, err = ms.log.Documents(ctx, seq); err != nil {
		return m, err
	}
	if m.Windows, err = ms.log.Windows(ctx, seq); err != nil {
		return m, err
	}
	if m.Settings, err = ms.log.Settings(ctx, seq); err != nil {
		return m, err
	}
	left, err := ms.log.LeftOut(ctx, seq)
	if err != nil {
		return m, err
	}
	m.LeftOut, m.LeftOver = left.Paths, left.Over
	m.Documents, m.Windows, m.Settings = orEmpty(m.Documents), orEmpty(m.Windows), orEmpty(m.Settings)
	taken, at, err := ms.log.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return m, nil
	}
	if err == nil {
		m.TakenSeq = at
		m.Snapshot, _, err = ms.available(ctx, taken.Snapshot)
	}
	if err == nil {
		m.Files, m.Bytes, err = ms.keeper.VerifyWork(ctx, m.Snapshot)
	}
	if choir.CodeOf(err) == choir.CodeNotFound {
		m.Collected, err = true, nil
	}
	return m, err
}

// orEmpty returns list, or an empty list for nil, so that JSON has no null.
func orEmpty[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}
