package eventstore

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// child appends from several goroutines until it is killed, and prints a line
// with id and number for each acknowledgement.
func child(dir string) int {
	s, err := Open(context.Background(), dir, testConfig())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				id, err := choir.NewID(testTime, rand.Reader)
				if err != nil {
					panic(err)
				}
				d, err := choir.NewDraft(id, choir.PromptSubmitted{Text: strings.Repeat("x", int(id[35])*20)})
				if err != nil {
					panic(err)
				}
				r, err := s.Append(context.Background(), choir.RoleCLI, d.ForRun(id, ""))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(fmt.Sprintf("%s %d\n", id, r[0].Seq))
			}
		})
	}
	wg.Wait()
	return 0
}

// runChild kills a child after it printed some lines and gives what it
// acknowledged.
func runChild(t *testing.T, dir string, lines int) map[choir.ID]uint64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHOIR_STORE_CHILD="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[choir.ID]uint64{}
	for scan := bufio.NewScanner(out); scan.Scan(); {
		id, number, ok := strings.Cut(scan.Text(), " ")
		seq, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue // the line at which it was killed
		}
		acked[choir.ID(id)] = seq
		if len(acked) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v", err)
	}
	return acked
}

func TestAKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	total, rounds := 0, 20
	if testing.Short() {
		rounds = 12
	}
	for round := range rounds {
		acked := runChild(t, dir, 1+round*round)
		total += len(acked)
		s := open(t, dir)
		for id, seq := range acked {
			if e, err := s.Event(ctx, id); err != nil || e.Seq != seq {
				t.Fatalf("round %d: event %d was acknowledged: %v", round, seq, err)
			}
			if _, err := s.Run(ctx, id); err != nil {
				t.Fatalf("round %d: the projection lacks event %d: %v", round, seq, err)
			}
		}
		if len(s.Repairs()) > 0 {
			t.Fatalf("round %d: repaired %v", round, s.Repairs())
		}
		if round%4 == 3 { // it reads the whole log, and everything again
			if r, err := s.Verify(ctx, nil); err != nil || len(r.Repaired)+len(r.Holes) > 0 {
				t.Fatalf("round %d: %+v %v", round, r, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	before := dump(t, s)
	if err := s.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	if after := dump(t, s); after != before {
		t.Error("the projections are not what the log says")
	}
	head, _ := s.Head()
	t.Logf("%d kills, %d acknowledged events, all there; head %d", rounds, total, head)
}
