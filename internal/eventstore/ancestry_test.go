package eventstore

import (
	"context"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// logs two events of one computer, and one of another behind them.
func mixed(t *testing.T, begin func(seq uint64, hash choir.Digest) choir.Payload) *Store {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	add(t, s, "", "", choir.ComputerCreated{Name: "x", Format: 1})
	add(t, s, "", "", choir.SessionEnded{Reason: "x"})
	seq, hash := s.Head()
	fork := filepath.Join(t.TempDir(), "fork")
	if err := s.Share(context.Background(), fork, seq); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig()
	cfg.Computer = newID()
	other, err := Open(t.Context(), fork, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	add(t, other, "", "", begin(seq, hash))
	if begins, err := other.Begins(t.Context(), cfg.Computer); err != nil || begins != seq+1 {
		t.Errorf("it begins at %d, %v", begins, err)
	}
	return other
}

func TestAForkOfTheTruthIsWhole(t *testing.T) {
	t.Parallel()
	s := mixed(t, func(seq uint64, hash choir.Digest) choir.Payload {
		return choir.ComputerForked{From: testComputer, Seq: seq, Hash: hash, Name: "x"}
	})
	report, err := s.Verify(t.Context(), nil)
	if err != nil || len(report.Holes) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestAPastThatIsNotSaidOrNotTrueIsNamed(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(uint64, choir.Digest) choir.Payload{
		"not said": func(uint64, choir.Digest) choir.Payload { return choir.SessionEnded{Reason: "x"} },
		"another hash": func(seq uint64, _ choir.Digest) choir.Payload {
			return choir.ComputerForked{From: testComputer, Seq: seq, Hash: choir.ZeroHash, Name: "x"}
		},
		"another source": func(seq uint64, hash choir.Digest) choir.Payload {
			return choir.ComputerForked{From: testUser, Seq: seq, Hash: hash, Name: "x"}
		},
	} {
		report, err := mixed(t, begin).Verify(t.Context(), nil)
		if err != nil || len(report.Holes) != 1 || report.Holes[0].From != 3 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}
