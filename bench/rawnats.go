package bench

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

// Subjects between this program and the page.
const (
	downSubject = "bench.down"
	upSubject   = "bench.up"
)

// sightPatience is how long anything may take to be seen in the page. The first
// change of the desktop's source takes longest.
const sightPatience = 60 * time.Second

// Where the page saw something.
const (
	seenRaw    = "raw"    // on the connection to the raw server
	seenStream = "stream" // on the connection to the JetStream server
	seenBus    = "bus"    // on the product's own connection
	seenDOM    = "dom"    // in the title of a window
	seenPixel  = "pixel"  // the colour of a frame that was drawn
)

// sight records where the page saw a mark, and when by its own clock.
type sight struct {
	Where string  `json:"where"`
	Mark  string  `json:"mark"`
	At    float64 `json:"at"` // milliseconds since 1970
}

// rawNATS is a NATS server with nothing around it: the peer of the bus, and the
// way by which the page says what it sees and when.
type rawNATS struct {
	server *server.Server
	nc     *nats.Conn
	heard  chan *nats.Msg
}

func startRawNATS() (*rawNATS, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "bench", DontListen: true, NoLog: true, NoSigs: true,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: -1, NoTLS: true},
	})
	if err != nil {
		return nil, choir.Wrap("bench.nats", choir.CodeUnavailable, err, "configure a raw NATS server")
	}
	s.Start()
	r := &rawNATS{server: s, heard: make(chan *nats.Msg, 1024)}
	if r.nc, err = nats.Connect("", nats.InProcessServer(s), nats.NoReconnect()); err == nil {
		_, err = r.nc.ChanSubscribe(upSubject, r.heard)
	}
	if err != nil {
		r.close()
		return nil, choir.Wrap("bench.nats", choir.CodeUnavailable, err, "start a raw NATS server")
	}
	return r, nil
}

func (r *rawNATS) close() {
	if r.nc != nil {
		r.nc.Close()
	}
	r.server.Shutdown()
	r.server.WaitForShutdown()
}

// await gives the moment, by the page's clock, at which it saw a mark.
func (r *rawNATS) await(ctx context.Context, where, mark string) (float64, error) {
	late := time.NewTimer(sightPatience)
	defer late.Stop()
	for {
		select {
		case m := <-r.heard:
			var s sight
			if err := json.Unmarshal(m.Data, &s); err != nil {
				return 0, err
			}
			if s.Where == where && s.Mark == mark {
				return s.At, nil
			}
		case <-late.C:
			return 0, choir.E("bench.page", choir.CodeTimeout, "the page did not see %q (%s) within %s", mark, where, sightPatience)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// send publishes for the page, and gives the moment before.
func (r *rawNATS) send(body []byte) (time.Time, error) {
	began := time.Now()
	return began, r.nc.Publish(downSubject, body)
}

// clockSamples is how often the page is asked for its time; the quickest answer
// counts.
const clockSamples = 5

// ahead is by how many milliseconds our clock is ahead of the page's, which
// drifts. It is off by half of the quickest answer at most.
func (r *rawNATS) ahead(ctx context.Context) (float64, error) {
	const mark = "bench-clock"
	quickest, ahead := time.Hour, 0.0
	for range clockSamples {
		began, err := r.send([]byte(mark))
		if err != nil {
			return 0, err
		}
		at, err := r.await(ctx, seenRaw, mark)
		if err != nil {
			return 0, err
		}
		if took := time.Since(began); took < quickest {
			quickest, ahead = took, sinceEpoch(began)+millis(took)/2-at
		}
	}
	return ahead, nil
}

// sinceEpoch is a moment as pages count it, in milliseconds.
func sinceEpoch(t time.Time) float64 { return float64(t.UnixNano()) / 1e6 }
