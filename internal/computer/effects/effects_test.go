package effects

import (
	"fmt"
	"strings"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
)

func TestWhichChangesAreInTheWayOfAResult(t *testing.T) {
	t.Parallel()
	// The result changes a file, adds one in a folder of its own, and removes a folder.
	wanted := map[string]bool{"app/a": false, "app/new": true, "app/new/b": false, "app/gone": false, "app/gone/c": false}
	for _, c := range []struct {
		path     string
		isFolder bool
		concerns bool
	}{
		{"app/a", false, true}, {"app/ab", false, false}, {"other/a", false, false},
		{"app/new/other", false, false}, {"app/new/b", false, true}, {"app/gone/late", false, true}, {"app/gone/late/deeper", false, true},
		{"app", true, false}, {"app", false, true}, {"app/new", true, true}, {"ap", false, false},
	} {
		if got := concerns(wanted, c.path, c.isFolder); got != c.concerns {
			t.Errorf("a change at %s (folder: %v) is in the way: %v", c.path, c.isFolder, got)
		}
	}
}

func TestLinesAreCountedInHunksOnly(t *testing.T) {
	t.Parallel()
	diff := "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n--- two\n+++ three\n+four\n"
	if added, removed, long := countLines(diff); added != 2 || removed != 1 || long != 0 {
		t.Errorf("+%d -%d, %d for long ones, want +2 -1 and none", added, removed, long)
	}
}

func TestALongLineIsNotASmallChange(t *testing.T) {
	t.Parallel()
	diff := "--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+" + strings.Repeat("x", 200_000) + "\n+short\n"
	if added, _, long := countLines(diff); added != 2 || long != 1000 {
		t.Errorf("%d lines, %d more for their length", added, long)
	}
}

// TestAReachedHostIsNotHiddenBehindOthers that were wanted only, and what is left out is said.
func TestAReachedHostIsNotHiddenBehindOthers(t *testing.T) {
	t.Parallel()
	p := &choir.EffectHeld{}
	for i := range maxListed + 6 {
		addHost(p, choir.EffectHost{Host: fmt.Sprintf("n%d.test", i), Port: 80})
	}
	reached := choir.EffectHost{Host: "reached.test", Port: 443, Sent: true}
	addHost(p, reached)
	addHost(p, reached)
	if !p.MoreHosts || len(p.Hosts) != maxListed || p.Hosts[maxListed-1] != reached || p.Hosts[maxListed-2].Host != "n62.test" {
		t.Errorf("more: %v; %+v", p.MoreHosts, p.Hosts)
	}
	few := &choir.EffectHeld{}
	if addHost(few, reached); few.MoreHosts {
		t.Error("more are told than there are")
	}
}

// TestAHeldResultFitsIntoItsEvent, whatever the task returned: its own event is as large as one can be.
func TestAHeldResultFitsIntoItsEvent(t *testing.T) {
	t.Parallel()
	run := choir.CommandRun{Command: "make", StdoutTail: strings.Repeat("x", 500)}
	p := &choir.EffectHeld{Rules: []string{strings.Repeat("r", 400)}, Checkpoint: &choir.HeldCheckpoint{Withheld: []string{strings.Repeat("w", 4096)}}}
	p.Result.Diff = &choir.Diff{Format: "unified", Content: strings.Repeat("d", 40_000)}
	for range 40 {
		p.Result.CommandsRun = append(p.Result.CommandsRun, run)
		p.Result.FilesChanged = append(p.Result.FilesChanged, choir.FileChange{Path: strings.Repeat("p", 400), Change: choir.ChangeAdded})
	}
	e := &Effects{blobs: mem.New(mem.Config{})}
	if err := e.fit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	raw, err := choir.Canonical(p)
	if err != nil || len(raw) > choir.InlineLimit {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	p.Result.Summary, p.Result.Verify.Log = strings.Repeat("s", 20_000), strings.Repeat("l", 50_000)
	for range 100 {
		p.Result.FilesChanged = append(p.Result.FilesChanged, choir.FileChange{Path: strings.Repeat("p", 4000), Change: choir.ChangeAdded})
	}
	if err := e.fit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if raw, err := choir.Canonical(p); err != nil || len(raw) > choir.InlineLimit {
		t.Errorf("a larger one has %d bytes, %v", len(raw), err)
	}
	if p.Result.Diff.Content != "" || p.Result.Diff.Blob == "" {
		t.Errorf("%+v", p.Result.Diff)
	}
}
