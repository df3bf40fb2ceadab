package cluster_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/cluster"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// writers append to one real log, one event after the other, each until it is
// acknowledged, and remember what they were told.
type writers struct {
	t        *testing.T
	computer choir.ID
	store    *eventstore.Store
	replica  *cluster.Replica
	stop     func()

	told    atomic.Int64 // acknowledgements
	refused atomic.Int64 // appends that were not replicated in time

	mu    sync.Mutex // guards what follows
	acked map[uint64]choir.Receipt
}

func openLog(t *testing.T, dir string, h bustest.Home, cfg cluster.Config) (*eventstore.Store, *cluster.Replica) {
	t.Helper()
	r := cluster.New(cfg, h.Computer)
	s, err := eventstore.Open(t.Context(), dir, eventstore.Config{
		Computer: h.Computer, User: h.User, Replica: r, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(s)
	return s, r
}

// writeEvery leaves the nodes, which share this machine's cores, some of them.
const writeEvery = 4 * time.Millisecond

// write starts n goroutines that append until stop.
func write(t *testing.T, n int, cfg cluster.Config) *writers {
	t.Helper()
	h := bustest.NewHome(t)
	w := &writers{t: t, computer: h.Computer, acked: map[uint64]choir.Receipt{}}
	w.store, w.replica = openLog(t, t.TempDir(), h, cfg)
	ctx, cancel := context.WithCancel(context.Background())
	pace := time.NewTicker(writeEvery)
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-pace.C:
					w.one(ctx)
				}
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		pace.Stop()
		w.replica.Close()
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

// one appends one event, under one id, until it is acknowledged.
func (w *writers) one(ctx context.Context) {
	d := newDraft(w.t)
	for ctx.Err() == nil {
		receipts, err := w.store.Append(ctx, choir.RoleShell, d)
		switch {
		case err == nil:
			w.mu.Lock()
			w.acked[receipts[0].Seq] = receipts[0]
			w.mu.Unlock()
			w.told.Add(1)
			return
		case ctx.Err() != nil:
		case !errors.Is(err, eventstore.ErrNotReplicated) || choir.CodeOf(err) != choir.CodeUnavailable:
			w.t.Errorf("an append failed with %v", err)
			return
		default:
			w.refused.Add(1)
		}
	}
}

func newDraft(t *testing.T) choir.Draft {
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Error(err)
	}
	d, err := choir.NewDraft(id, choir.PromptSubmitted{Text: "write it twice"})
	if err != nil {
		t.Error(err)
	}
	return d.ForRun(id, "")
}

// progress waits for more acknowledgements.
func (w *writers) progress(t *testing.T, more int64) {
	t.Helper()
	from := w.told.Load()
	until(t, "appends are acknowledged", func() bool { return w.told.Load() >= from+more })
}

// stalled waits until appends are refused, and sees that no event that the log
// made after `cut` is acknowledged. One from before may be: a majority can have
// it while the word that it does was lost with the others.
func (w *writers) stalled(t *testing.T, writers int64, cut uint64) {
	t.Helper()
	refusedFrom := func(n int64) func() bool { return func() bool { return w.refused.Load() >= n } }
	until(t, "appends are refused", refusedFrom(w.refused.Load()+2*writers))
	until(t, "appends go on to be refused", refusedFrom(w.refused.Load()+2*writers))
	until(t, "the replica says that the cluster is not reached", func() bool { return choir.CodeOf(w.replica.Healthy()) == choir.CodeUnavailable })
	w.mu.Lock()
	defer w.mu.Unlock()
	for seq := range w.acked {
		if seq > cut {
			t.Errorf("event %d was acknowledged without a majority of the nodes, which were cut off after event %d", seq, cut)
		}
	}
}

// check reads the stream from the nodes that answer, with nothing of package
// cluster, and holds it against what the writers were told.
func (w *writers) check(t *testing.T, servers string) {
	t.Helper()
	head, _ := w.store.Head()
	nc, err := nats.Connect(servers, nats.Timeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	var consumer jetstream.Consumer
	until(t, "the surviving nodes have a leader", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		consumer, err = js.OrderedConsumer(ctx, "CHOIR_LOG_"+string(w.computer), jetstream.OrderedConsumerConfig{})
		return err == nil
	})
	messages, err := consumer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	ids, prev := map[string]bool{}, string(choir.ZeroHash)
	for seq := uint64(1); seq <= head; seq++ {
		m, err := messages.Next(jetstream.NextMaxWait(patience))
		if err != nil {
			t.Fatalf("event %d of %d: %v", seq, head, err)
		}
		prev = w.checkOne(t, seq, prev, m.Data(), ids)
		delete(w.acked, seq)
	}
	if len(w.acked) > 0 {
		t.Errorf("%d acknowledged events are not in the stream", len(w.acked))
	}
}

// checkOne checks place, chain, hash and uniqueness of an event and returns its
// hash.
func (w *writers) checkOne(t *testing.T, seq uint64, prev string, raw []byte, ids map[string]bool) string {
	t.Helper()
	var e struct {
		Seq      uint64 `json:"seq"`
		ID       string `json:"id"`
		PrevHash string `json:"prev_hash"`
		Hash     string `json:"hash"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(bytes.Replace(raw, []byte(`,"hash":"`+e.Hash+`"`), nil, 1))
	told, acked := w.acked[seq]
	switch {
	case e.Seq != seq:
		t.Fatalf("event %d is at place %d", e.Seq, seq)
	case ids[e.ID]:
		t.Errorf("event %d, %s, came twice", seq, e.ID)
	case e.PrevHash != prev:
		t.Errorf("event %d does not follow the one before it", seq)
	case hex.EncodeToString(sum[:]) != e.Hash:
		t.Errorf("event %d has another hash than it says", seq)
	case acked && (string(told.Hash) != e.Hash || string(told.ID) != e.ID):
		t.Errorf("event %d is %s %s, acknowledged was %s %s", seq, e.ID, e.Hash, told.ID, told.Hash)
	}
	ids[e.ID] = true
	return e.Hash
}
