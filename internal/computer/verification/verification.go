// Package verification checks both copies of the log of one computer, and the copy in a
// cluster, and records repairs in the log.
package verification

import (
	"context"
	"log/slog"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Log is the log that is verified; eventstore.Store is one.
type Log interface {
	ReadOnly() string
	Verify(ctx context.Context, progress func(done, total uint64)) (eventstore.Report, error)
}

// Copy is the copy of the log in a cluster; cluster.Replica is one.
type Copy interface {
	// Compare compares every event of the copy with the log, and returns their number.
	// Code corrupt when one is not the same.
	Compare(ctx context.Context) (events uint64, err error)
}

// Verifier verifies the log of one computer. Its methods may be called at once.
type Verifier struct {
	computer choir.ID
	log      Log
	events   *appender.Appender // appends to log
	copy     Copy               // nil for none
	logger   *slog.Logger
}

// New makes the Verifier of a computer's log. It appends with events, which must append to
// the same log; the logger is told under the computer's name of a repair that could not be
// recorded. copy is nil where durability is local.
func New(computer choir.ID, log Log, events *appender.Appender, copy Copy, logger *slog.Logger) *Verifier {
	return &Verifier{computer: computer, log: log, events: events, copy: copy, logger: logger}
}

// Verify verifies the log, see eventstore.Store.Verify, and records what that restored. It
// compares the copy in the cluster too, when there is one and the log is whole.
func (v *Verifier) Verify(ctx context.Context) (eventstore.Report, error) {
	report, err := v.log.Verify(ctx, nil)
	for _, r := range report.Repaired {
		v.Record(r)
	}
	if err != nil || v.copy == nil || v.log.ReadOnly() != "" {
		return report, err
	}
	events, err := v.copy.Compare(ctx)
	report.Cluster = &eventstore.ClusterReport{Events: events, Code: choir.CodeOf(err)}
	if err != nil {
		report.Cluster.Reason = err.Error()
	}
	return report, nil
}

// Record appends that a range of the log was restored.
func (v *Verifier) Record(r choir.LogRepaired) {
	if _, err := v.events.Append(context.Background(), choir.RoleControl, r); err != nil {
		v.logger.Error("a repair of the log is not recorded", "computer", v.computer, "error", err)
	}
}
