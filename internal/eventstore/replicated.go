package eventstore

import (
	"context"
	"errors"
	"fmt"

	"choiros/internal/choir"
)

// ErrNotReplicated is wrapped by the error of an append whose events are durable in the
// log but not known to be replicated.
var ErrNotReplicated = errors.New("not replicated yet")

// waitReplicated waits until the replica has the events of the receipts, and returns
// the receipts. Appends by the control plane for itself do not call it: nobody waits
// for their receipts, and the replica gets them before the next event that does.
func (s *Store) waitReplicated(ctx context.Context, receipts []choir.Receipt) ([]choir.Receipt, error) {
	var last uint64
	for _, r := range receipts {
		last = max(last, r.Seq)
	}
	err := s.cfg.Replica.Wait(ctx, last)
	if err == nil {
		return receipts, nil
	}
	return nil, &choir.Error{
		Op: "eventstore.append", Code: choir.CodeOf(err), Err: fmt.Errorf("%w: %w", ErrNotReplicated, err),
		Msg:    fmt.Sprintf("event %d is durable here and not known to be replicated", last),
		Remedy: "append it again under the same id: it is acknowledged once the cluster has it, and is in the log once",
	}
}
