package bench

import (
	"context"
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/control/api"
)

// greed is a line for a shell that takes all it can get of one thing.
type greed struct{ of, line string }

var greeds = []greed{
	{"processors", "for i in 1 2 3 4; do (while :; do :; done) & done; wait\n"},
	{"memory", "while :; do head -c 64G /dev/zero | tail; done\n"},
	{"disk", "while :; do head -c 2G /dev/zero > filled; rm filled; done\n"},
	{"files and events", "i=0; while :; do i=$((i+1)); echo $i > changed$((i % 500)); done\n"},
	{"output", "yes\n"},
}

// greedBegins is the time that a greedy program has before something is measured beside it.
const greedBegins = 300 * time.Millisecond

// benchNeighbours measures the time until a computer has a terminal open, which asks its log, its
// sandbox and the processors for something, while a program of another computer of the same choir
// takes all it can get. The same beside an idle computer is next to it.
func benchNeighbours(ctx context.Context, l *lab, emit func(Row)) error {
	var rows []Row
	for _, g := range greeds {
		rows = append(rows, Row{Case: "beside greed for " + g.of, Unit: "ms", Peer: "beside an idle computer", Isolated: true})
	}
	if why := l.cannotIsolate(ctx); why != "" {
		emitSkipped(rows, why, emit)
		return nil
	}
	s, greedy, err := l.serveOne(ctx, "", staysAwake)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.fork(ctx, 2); err != nil {
		return err
	}
	list, err := s.computers(ctx)
	if err != nil {
		return err
	}
	opened := func(ctx context.Context) (float64, error) { return s.openTerminal(ctx, list[1].ID) }
	for i, g := range greeds {
		beside := func(ctx context.Context) (ms float64, err error) {
			err = s.besideGreed(ctx, greedy, g, func() error {
				ms, err = opened(ctx)
				return err
			})
			return ms, err
		}
		row, err := (turns{n: l.count(40), warmup: 1, ours: beside, peer: opened}).measure(ctx, rows[i])
		if err != nil {
			return err
		}
		emit(row)
	}
	return nil
}

// besideGreed measures while a greedy program runs in a terminal of a computer, and ends it.
func (s *served) besideGreed(ctx context.Context, id choir.ID, g greed, measure func() error) error {
	path := "/api/computers/" + string(id) + "/terminals"
	var t terminals.Info
	if err := s.ask(ctx, http.MethodPost, path, api.TerminalRequest{Type: g.line}, &t); err != nil {
		return err
	}
	if err := pauseFor(ctx, greedBegins); err != nil {
		return err
	}
	err := measure()
	if ended := s.ask(ctx, http.MethodDelete, path+"/"+string(t.ID), nil, nil); err == nil {
		err = ended
	}
	return err
}
