package eventstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

func TestAFullDiskRefusesAppendsAndReadsGoOn(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mounting a small file system is not possible here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	ctx := context.Background()
	s := open(t, filepath.Join(disk, "computer"))
	acked := map[choir.ID]uint64{}
	var err error
	for len(acked) < 2000 {
		run := newID()
		d := draft(t, choir.PromptSubmitted{Text: strings.Repeat("x", 15_000)}, run, "")
		var r []choir.Receipt
		if r, err = s.Append(ctx, choir.RoleCLI, d); err != nil {
			break
		}
		acked[run] = r[0].Seq
	}
	if choir.CodeOf(err) != choir.CodeNoSpace || len(acked) < 10 {
		t.Fatalf("after %d appends: %v, wanted no_space", len(acked), err)
	}
	if seq, _ := s.Head(); seq != uint64(len(acked)) {
		t.Errorf("head %d, acknowledged %d", seq, len(acked))
	}
	if _, err := s.Runs(MayLag(ctx), 5, 0); err != nil {
		t.Errorf("reading on a full disk: %v", err)
	}
	// What was acknowledged is in the log, whether or not the copy has it yet.
	asked, unknown := 0, 0
	for run, seq := range acked {
		if asked++; asked > 8 {
			break // each read tries to write the copy
		}
		_, err := s.Run(MayLag(ctx), run)
		_, _, then := s.RunAsOf(MayLag(ctx), run, seq)
		for _, err := range []error{err, then} {
			if err != nil && choir.CodeOf(err) != choir.CodeNoSpace {
				t.Errorf("the run of event %d of %d: %v", seq, len(acked), err)
			}
		}
		if err != nil {
			unknown++
		}
		if e, err := s.At(MayLag(ctx), seq); err != nil || e.Run != run {
			t.Errorf("event %d of %d: %v", seq, len(acked), err)
		}
	}
	t.Logf("the copy lacked %d of 8 events", unknown)
	// Who decides by it is told nothing rather than something old.
	if runs, err := s.Runs(ctx, 5, 0); err == nil && runs[0].FirstSeq != uint64(len(acked)) || err != nil && choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("of %d runs the newest are %+v: %v", len(acked), runs, err)
	}
	if events, err := s.EventsAfter(ctx, uint64(len(acked)-1), 5); err != nil || len(events) != 1 {
		t.Errorf("%d events after the last but one: %v", len(events), err)
	}

	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "fits again"})
	for run, seq := range acked {
		if got, err := s.Run(ctx, run); err != nil || got.FirstSeq != seq {
			t.Fatalf("run of event %d: %v", seq, err)
		}
	}
	before := dump(t, s)
	if err := s.Rebuild(ctx); err != nil || dump(t, s) != before {
		t.Errorf("the projections are not what the log says: %v", err)
	}
}
