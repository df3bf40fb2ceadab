package verification

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// stubLog answers a verification, and keeps what is appended.
type stubLog struct {
	appender.Log
	report   eventstore.Report
	readOnly string
	err      error // of Verify
	full     error // of Append
	appended []choir.Draft
}

func (s *stubLog) ReadOnly() string { return s.readOnly }

func (s *stubLog) Verify(context.Context, func(done, total uint64)) (eventstore.Report, error) {
	return s.report, s.err
}

func (s *stubLog) Append(_ context.Context, _ choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	s.appended = append(s.appended, drafts...)
	return make([]choir.Receipt, len(drafts)), s.full
}

// stubCopy compares some events.
type stubCopy struct {
	events   uint64
	err      error
	compared bool
}

func (s *stubCopy) Compare(context.Context) (uint64, error) {
	s.compared = true
	return s.events, s.err
}

func newVerifier(log *stubLog, copy Copy, logged *bytes.Buffer) *Verifier {
	logger := slog.New(slog.NewTextHandler(logged, nil))
	newID := func() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }
	return New("c", log, appender.New(log, "c", newID, logger), copy, logger)
}

// repaired is a range that a verification restored.
var repaired = choir.LogRepaired{From: 3, To: 4, Copy: "sqlite", Damage: "x"}

func TestRepairsAreRecordedOneByOne(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	log := &stubLog{report: eventstore.Report{Events: 9, Repaired: []choir.LogRepaired{repaired, repaired}}}
	report, err := newVerifier(log, nil, &logged).Verify(t.Context())
	if err != nil || report.Events != 9 || report.Cluster != nil || len(log.appended) != 2 || log.appended[0].Type != choir.TypeLogRepaired {
		t.Errorf("%+v, %v; appended are %+v", report, err, log.appended)
	}
	log.full = errors.New("the disk is full")
	if _, err := newVerifier(log, nil, &logged).Verify(t.Context()); err != nil || !strings.Contains(logged.String(), "the disk is full") {
		t.Errorf("%v; logged is %q", err, logged.String())
	}
}

func TestTheCopyInAClusterIsComparedWithAWholeLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		log  *stubLog
		copy *stubCopy
		want *eventstore.ClusterReport
	}{
		{"the same", &stubLog{}, &stubCopy{events: 9}, &eventstore.ClusterReport{Events: 9}},
		{"another", &stubLog{}, &stubCopy{events: 4, err: choir.E("x", choir.CodeCorrupt, "event 5")}, &eventstore.ClusterReport{Events: 4, Code: choir.CodeCorrupt, Reason: "x: event 5"}},
		{"of a damaged log", &stubLog{readOnly: "damaged"}, &stubCopy{}, nil},
		{"of a log that cannot be verified", &stubLog{err: errors.New("x")}, &stubCopy{}, nil},
	} {
		report, err := newVerifier(c.log, c.copy, &bytes.Buffer{}).Verify(t.Context())
		if !errors.Is(err, c.log.err) || c.copy.compared != (c.want != nil) {
			t.Errorf("%s: %v, compared %t", c.name, err, c.copy.compared)
		}
		if got := report.Cluster; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
