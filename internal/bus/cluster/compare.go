package cluster

import (
	"bytes"
	"context"

	"choiros/internal/choir"
)

// Compare holds every event of the copy against the log, byte by byte, and says
// how many it compared. Code corrupt: the first that is not the same.
func (r *Replica) Compare(ctx context.Context) (events uint64, err error) {
	var ours []choir.Event
	err = Read(ctx, r.cfg, r.computer, func(seq uint64, raw []byte) error {
		if len(ours) == 0 {
			var err error
			if ours, err = r.src.EventsAfter(ctx, seq-1, batch); err != nil {
				return err
			}
		}
		if len(ours) == 0 || ours[0].Seq != seq {
			return choir.E("cluster.compare", choir.CodeCorrupt, "the cluster has event %d, the log here has not", seq)
		}
		want, err := choir.EncodeEvent(&ours[0])
		if err != nil {
			return choir.Wrap("cluster.compare", "", err, "encode event %d", seq)
		}
		if !bytes.Equal(raw, want) {
			return choir.E("cluster.compare", choir.CodeCorrupt, "event %d of the cluster's copy is not the log's", seq)
		}
		ours, events = ours[1:], seq
		return nil
	})
	return events, err
}
