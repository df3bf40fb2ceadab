package eventstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
)

// closedWith makes a log of so many events in a folder, closed.
func closedWith(t *testing.T, dir string, events int) {
	t.Helper()
	s := open(t, dir)
	for i := range events {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: fmt.Sprint(i)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// consumed runs a consumer until it had the log's newest event, and gives the numbers
// of each call.
func consumed(t *testing.T, s *Store, c Consumer) (calls [][]uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // one that skips events would wait for ever
	defer cancel()
	head, _ := s.Head()
	handle := c.Handle
	c.Handle = func(ctx context.Context, events []choir.Event) error {
		var seqs []uint64
		for _, e := range events {
			seqs = append(seqs, e.Seq)
		}
		calls = append(calls, seqs)
		if handle == nil {
			return nil
		}
		return handle(ctx, events)
	}
	c.handled = func() {
		if last := calls[len(calls)-1]; last[len(last)-1] == head {
			cancel()
		}
	}
	if err := s.Consume(ctx, c); choir.CodeOf(err) != choir.CodeCancelled {
		t.Fatal(err)
	}
	return calls
}

func flat(calls [][]uint64) []uint64 { return slices.Concat(calls...) }

func upTo(from, to uint64) (out []uint64) {
	for ; from <= to; from++ {
		out = append(out, from)
	}
	return out
}

func TestAConsumerGetsEveryEventInBatchesAndGoesOnBehindItsCursor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 10)
	s := open(t, dir)
	c := Consumer{Name: "counter", Batch: 4}
	calls := consumed(t, s, c)
	if got := flat(calls); len(calls) != 3 || !slices.Equal(got, upTo(1, 10)) {
		t.Errorf("it got %v", calls)
	}
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "more"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if got := flat(consumed(t, s, c)); !slices.Equal(got, []uint64{11}) {
		t.Errorf("after a restart it got %v", got)
	}
	if got := flat(consumed(t, s, Consumer{Name: "other"})); !slices.Equal(got, upTo(1, 11)) {
		t.Errorf("another consumer got %v", got)
	}
	if err := s.Cursor("counter").Save(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := flat(consumed(t, s, c)); !slices.Equal(got, upTo(1, 11)) {
		t.Errorf("begun anew it got %v", got)
	}
}

// TestACursorThatIsNotOfThisLogIsNamedAndTheLogIsHandledFromItsBeginning: one ahead of
// it, as after an older state of the folder came back, and one of another log.
func TestACursorThatIsNotOfThisLogIsNamedAndTheLogIsHandledFromItsBeginning(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"ahead of the log": "('counter', 900, '" + string(choir.ZeroHash) + "')",
		"of another log":   "('counter', 2, '" + string(choir.DigestOf([]byte("x"))) + "')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			closedWith(t, dir, 5)
			sqlIn(t, dir, "REPLACE INTO cursors VALUES "+row)
			s := open(t, dir)
			if _, err := s.Cursor("counter").Load(t.Context()); !errors.Is(err, ErrAhead) || choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "counter") {
				t.Errorf("the cursor gives %v", err)
			}
			var told []error
			got := flat(consumed(t, s, Consumer{Name: "counter", Failed: func(_ uint64, reason error) { told = append(told, reason) }}))
			if !slices.Equal(got, upTo(1, 5)) || len(told) != 1 || !errors.Is(told[0], ErrAhead) {
				t.Errorf("it got %v and told %v", got, told)
			}
			if at, err := s.Cursor("counter").Load(t.Context()); err != nil || at != 5 {
				t.Errorf("the cursor stands at %d, %v", at, err)
			}
		})
	}
}

func TestAConsumerThatPanicsOnOneEventIsNamedAndHandlesTheRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 9)
	s := open(t, dir)
	done := map[uint64]bool{}
	var told []string
	consumed(t, s, Consumer{
		Name: "counter", Batch: 4,
		Handle: func(_ context.Context, events []choir.Event) error {
			for _, e := range events {
				if e.Seq == 6 {
					panic("six")
				}
				done[e.Seq] = true
			}
			return nil
		},
		Failed: func(seq uint64, reason error) { told = append(told, fmt.Sprint(seq, " ", reason)) },
	})
	if len(done) != 8 || done[6] {
		t.Errorf("it handled %v", done)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "6 ") || !strings.Contains(told[0], "counter") || !strings.Contains(told[0], "six") {
		t.Errorf("told %q", told)
	}
}

func TestABatchThatFailsComesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 6)
	s := open(t, dir)
	failure := errors.New("not now")
	err := s.Consume(t.Context(), Consumer{Name: "counter", Batch: 4, Handle: func(_ context.Context, events []choir.Event) error {
		if events[0].Seq > 4 {
			return failure
		}
		return nil
	}})
	if !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if got := flat(consumed(t, s, Consumer{Name: "counter"})); !slices.Equal(got, []uint64{5, 6}) {
		t.Errorf("it got %v", got)
	}
}

// TestCursorsOutliveARemakeOfTheCopy: only the projections are made anew.
func TestCursorsOutliveARemakeOfTheCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 5)
	s := open(t, dir)
	consumed(t, s, Consumer{Name: "counter"})
	for what, again := range map[string]func(context.Context) error{"rebuild": s.Rebuild, "remake": s.remakeSQLite} {
		if err := again(t.Context()); err != nil {
			t.Fatal(err)
		}
		if at, err := s.Cursor("counter").Load(t.Context()); err != nil || at != 5 {
			t.Errorf("after a %s the cursor stands at %d, %v", what, at, err)
		}
	}
}

// consumingChild consumes a log, says what it handles, and kills itself between the
// second batch and its cursor.
func consumingChild(dir string) int {
	s, err := Open(context.Background(), dir, testConfig())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	batches := 0
	err = s.Consume(context.Background(), Consumer{
		Name: "counter", Batch: 3,
		Handle: func(_ context.Context, events []choir.Event) error {
			for _, e := range events {
				os.Stdout.WriteString(fmt.Sprintln(e.Seq))
			}
			return nil
		},
		handled: func() {
			if batches++; batches == 2 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it does not return
			}
		},
	})
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestAConsumerKilledBeforeItsCursorGetsTheBatchAgainAndSkipsNothing: each process
// handles two batches and remembers one.
func TestAConsumerKilledBeforeItsCursorGetsTheBatchAgainAndSkipsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const events = 14
	closedWith(t, dir, events)
	var last uint64
	for from := uint64(1); from+3 <= events; from += 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CHOIR_STORE_CHILD="+dir, "CHOIR_STORE_CONSUMING=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("the child was not killed: %v", err)
		}
		var got []uint64
		for scan := bufio.NewScanner(strings.NewReader(string(out))); scan.Scan(); {
			var seq uint64
			if _, err := fmt.Sscan(scan.Text(), &seq); err != nil {
				t.Fatal(err)
			}
			got = append(got, seq)
		}
		last = min(from+5, events)
		if want := upTo(from, last); !slices.Equal(got, want) {
			t.Fatalf("it got %v, wanted %v", got, want)
		}
	}
	if got := flat(consumed(t, open(t, dir), Consumer{Name: "counter"})); got[0] > last || !slices.Equal(got, upTo(got[0], events)) {
		t.Errorf("at the end it got %v", got)
	}
}
