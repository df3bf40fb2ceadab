package supervisor

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
)

// within fails the test unless do returns soon.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s waits", what)
	}
}

// TestOneComputersOutletHoldsUpNoOther makes that of one computer while another's takes its time.
func TestOneComputersOutletHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	var p perComputer[string]
	making, goOn, made := make(chan struct{}), make(chan struct{}), make(chan string, 2)
	slow := func() string { close(making); <-goOn; return "slow" } // a second call would panic
	go func() { made <- p.get("a", slow) }()
	<-making
	go func() { made <- p.get("a", slow) }()
	within(t, "another computer's", func() {
		if got := p.get("b", func() string { return "b" }); got != "b" || p.peek("b") != "b" || p.drop("b") != "b" || p.peek("b") != "" {
			t.Errorf("b has %q", got)
		}
	})
	close(goOn)
	if all := p.all(); len(all) != 1 || all[0] != "slow" || <-made != "slow" || <-made != "slow" {
		t.Errorf("all are %q", all)
	}
	if all := p.clear(); len(all) != 1 || len(p.all()) != 0 {
		t.Errorf("cleared are %q", all)
	}
}

// TestOneComputersKeyFilesHoldUpNoOther opens the authority of one computer while the disk is slow
// for another's.
func TestOneComputersKeyFilesHoldUpNoOther(t *testing.T) {
	t.Parallel()
	a := &authorities{data: t.TempDir(), now: time.Now, log: slog.New(slog.DiscardHandler)}
	for _, id := range []choir.ID{"slow", "quick"} {
		if err := os.MkdirAll(filepath.Dir(a.folderOf(id)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	slow := filepath.Join(a.folderOf("slow"), egress.TrustFolder, egress.TrustFile)
	if a.open("slow") == nil {
		t.Fatal("it cannot be kept")
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(slow, 0o600); err != nil {
		t.Fatal(err)
	}
	a.of.drop("slow")
	opened := make(chan *egress.Authority, 1)
	go func() { opened <- a.open("slow") }()
	var reading *os.File
	within(t, "the reading of the slow file", func() { // until it is being read
		var err error
		if reading, err = os.OpenFile(slow, os.O_WRONLY, fs.ModePerm); err != nil {
			t.Error(err)
		}
	})
	defer reading.Close()
	within(t, "another computer's", func() {
		if a.open("quick") == nil {
			t.Error("it cannot be kept")
		}
	})
	reading.Close()
	if <-opened == nil {
		t.Error("a slow disk keeps the authority from being opened")
	}
}
