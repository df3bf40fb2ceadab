package eventstore

import (
	"context"
	"errors"
	"fmt"

	"choiros/internal/choir"
)

// ErrNotReplicated is in the chain of the error of an append that is in the log,
// durable, and not known to be replicated.
var ErrNotReplicated = errors.New("not replicated yet")

// replicated holds receipts back until the replica has their events. What the
// control plane appends on its own account is acknowledged to nobody and does not
// come here; the replica has it before the next event that does.
func (s *Store) replicated(ctx context.Context, receipts []choir.Receipt) ([]choir.Receipt, error) {
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
