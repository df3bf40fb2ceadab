package cluster

import (
	"bytes"
	"context"
	"iter"

	"choiros/internal/choir"
)

// Compare compares every event of the cluster's copy with the log, byte by byte, and
// returns the number of the last equal one. Code corrupt: an event differs.
func (r *Replica) Compare(ctx context.Context) (events uint64, err error) {
	next, stop := iter.Pull2(r.src.Events(ctx, 1, 0))
	defer stop()
	err = r.cfg.Read(ctx, r.computer, func(seq uint64, raw []byte) error {
		ours, err, more := next()
		if err != nil {
			return err
		}
		if !more || ours.Seq != seq {
			return choir.Refuse("cluster.compare", choir.ReasonClusterHasMore, choir.TextOf("event", seq))
		}
		want, err := choir.EncodeEvent(&ours)
		if err != nil {
			return choir.Wrap("cluster.compare", "", err, "encode event %d", seq)
		}
		if !bytes.Equal(raw, want) {
			return choir.Refuse("cluster.compare", choir.ReasonClusterEventDiffers, choir.TextOf("event", seq))
		}
		events = seq
		return nil
	})
	return events, err
}
