package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// largeLog is how many events ANCHORS asks for, and buildTime how long the log
// may take to be made: where that is not enough it stays smaller, and its rows
// are named after what it has.
const (
	largeLog  = 10_000_000
	buildTime = 10 * time.Minute
)

// benchLogSize measures opening a large log and appending to it, beside a log that
// holds only the events appended here.
func benchLogSize(ctx context.Context, l *lab, emit func(Row)) (err error) {
	dir, err := l.folder()
	if err != nil {
		return err
	}
	asked := l.events
	if asked == 0 {
		asked = largeLog
		if l.quick {
			asked = 20_000
		}
	}
	large, small := filepath.Join(dir, "large"), filepath.Join(dir, "small")
	made, err := makeLog(ctx, large, asked)
	if err != nil {
		return err
	}
	name := thousands(made) + " events, "
	note := ""
	switch {
	case made < asked:
		note = "not " + thousands(asked) + " events: making more takes longer than " + buildTime.String()
	case made < largeLog:
		note = "not " + thousands(largeLog) + " events: fewer were asked for"
	}
	row, err := l.opening(ctx, Row{Case: name + "open", Skipped: note}, large, small)
	if err != nil {
		return err
	}
	emit(row)
	return l.appending(ctx, name, note, large, small, emit)
}

// makeLog writes a log of tool calls, whose ids are older than those of events
// that are appended later.
func makeLog(ctx context.Context, dir string, n int) (made int, err error) {
	const perRun = 1000
	p := choir.ToolCalled{Tool: "bash", Input: choir.ToolInput{Command: "go test ./..."}}
	began, i := time.Now(), 0
	var d choir.Draft
	written, err := eventstore.Bulk(dir, storeConfig(), func() (choir.Draft, choir.Source, bool) {
		if i == n || i%perRun == 0 && (ctx.Err() != nil || time.Since(began) > buildTime) {
			return d, "", false
		}
		if i%perRun == 0 {
			run := earlier(i-n, "rn")
			p.Call = choir.DeriveID(run, "call")
			if d, err = choir.NewDraft(run, p); err != nil {
				return d, "", false
			}
			d = d.ForRun(run, choir.DeriveID(run, "task"))
		}
		d.ID = earlier(i-n, "ev")
		i++
		return d, choir.SourceAssociate, true
	})
	return int(written), errors.Join(err, ctx.Err())
}

// earlier is an id of the times before benchTime: n is negative.
func earlier(n int, kind string) choir.ID {
	random := binary.BigEndian.AppendUint64([]byte(kind)[:2:2], uint64(n))
	id, err := choir.NewID(benchTime+choir.Time(n/10-1), bytes.NewReader(random))
	if err != nil {
		panic(err) // only too few random bytes can fail it
	}
	return id
}

// opening measures opening and closing in order.
func (l *lab) opening(ctx context.Context, row Row, large, small string) (Row, error) {
	row.Unit, row.Peer, row.Durable = "ms", "an empty log", l.onDisk()
	open := func(dir string) sample {
		return func(ctx context.Context) (float64, error) {
			began := time.Now()
			s, err := eventstore.Open(ctx, dir, storeConfig())
			took := millis(time.Since(began))
			if err != nil {
				return 0, err
			}
			return took, s.Close()
		}
	}
	note := row.Skipped
	row.Skipped = ""
	row, err := turns{n: l.count(15), warmup: l.count(1), ours: open(large), peer: open(small)}.measure(ctx, row)
	if row.Skipped == "" {
		row.Skipped = note
	}
	return row, err
}

// appending measures appends to both logs, by one writer and by 64.
func (l *lab) appending(ctx context.Context, name, note, large, small string, emit func(Row)) (err error) {
	logs := make([]log, 2)
	for i, dir := range []string{large, small} {
		s, err := eventstore.Open(ctx, dir, storeConfig())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		logs[i] = storeLog{s}
	}
	one := func(to log) sample {
		var load []work
		return func(ctx context.Context) (_ float64, err error) {
			if len(load) == 0 {
				if load, err = nextEvents(runSize()); err != nil {
					return 0, err
				}
			}
			next := load[0]
			load = load[1:]
			began := time.Now()
			err = to.append(ctx, next)
			return micros(time.Since(began)), err
		}
	}
	row, err := turns{n: l.count(singleEvents), warmup: l.count(50), ours: one(logs[0]), peer: one(logs[1])}.
		measure(ctx, Row{Case: name + "1 writer", Unit: "us", Peer: "an empty log", Durable: l.onDisk()})
	if err != nil {
		return err
	}
	row.Skipped = note
	emit(row)
	const writers = 64
	r := rounds{l: l, writers: writers}
	var waits samples
	round := func(to log) sample {
		return func(ctx context.Context) (float64, error) { return r.round(ctx, to, &waits) }
	}
	row, err = turns{n: l.count(appendRounds), warmup: l.count(2), ours: round(logs[0]), peer: round(logs[1]), rate: true}.
		measure(ctx, Row{Case: name + strconv.Itoa(writers) + " writers", Unit: "events/s", Peer: "an empty log", Durable: l.onDisk()})
	row.Skipped = note
	emit(row)
	return err
}
