package journal

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// trace runs the child under strace and gives the lines of fdatasync, pwrite64
// and write in the order the kernel ended them.
func trace(t *testing.T, writers, each int) []string {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: the syncs cannot be counted")
	}
	// On a disk, whose syncs take their time: only then do writers share them.
	dir, err := os.MkdirTemp("/var/tmp", "choir-journal-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	out := filepath.Join(dir, "trace")
	cmd := exec.Command("strace", "-f", "-s", "64", "-e", "trace=fdatasync,pwrite64,write", "-o", out, os.Args[0], filepath.Join(dir, "journal"),
		strconv.Itoa(writers), strconv.Itoa(each))
	cmd.Env = append(os.Environ(), "CHOIR_JOURNAL_CHILD=1")
	if msg, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(msg), "ptrace") {
			t.Skipf("strace may not trace here: %s", msg)
		}
		t.Fatalf("%v: %s", err, msg)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

var (
	ackLine  = regexp.MustCompile(`write\(1, "ack (\d+)\\n"`)
	syncDone = regexp.MustCompile(`fdatasync\(\d+\) += 0|<\.\.\. fdatasync resumed.* = 0`)
	record   = regexp.MustCompile(`pwrite64\(\d+, "CJR1`)
)

// count checks that no acknowledgement is printed before as many syncs as could
// have covered it, and gives the totals.
func count(t *testing.T, lines []string) (syncs, acks int) {
	t.Helper()
	unsynced := false
	for _, line := range lines {
		switch {
		case record.MatchString(line):
			unsynced = true
		case syncDone.MatchString(line):
			syncs++
			unsynced = false
		case ackLine.MatchString(line):
			if acks++; syncs == 0 {
				t.Fatalf("acknowledged before any sync: %s", line)
			}
		}
	}
	if unsynced {
		t.Error("the last records were written and never synced")
	}
	return syncs, acks
}

func TestOneWriterSyncsOncePerAppend(t *testing.T) {
	t.Parallel()
	lines := trace(t, 1, 100)
	syncs, acks := count(t, lines)
	if acks != 100 || syncs != acks {
		t.Errorf("%d syncs for %d acknowledgements", syncs, acks)
	}
	// With one writer the order is strict: write, sync, acknowledgement.
	state := "ack"
	for _, line := range lines {
		next, after := "", ""
		switch {
		case record.MatchString(line):
			next, after = "write", "ack"
		case syncDone.MatchString(line):
			next, after = "sync", "write"
		case ackLine.MatchString(line):
			next, after = "ack", "sync"
		default:
			continue
		}
		if state != after {
			t.Fatalf("%s follows %s: %s", next, state, line)
		}
		state = next
	}
}

func TestManyWritersShareSyncs(t *testing.T) {
	t.Parallel()
	syncs, acks := count(t, trace(t, 64, 20))
	if acks != 64*20 || syncs >= acks/2 {
		t.Errorf("%d syncs for %d acknowledgements", syncs, acks)
	}
	t.Logf("%d syncs for %d acknowledgements", syncs, acks)
}
