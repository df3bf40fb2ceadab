package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/control/api"
)

// TestWhatARewindMovedAsideIsNamedUntilItIsDropped has a file that no moment holds in
// the place of one that was, and finds it in the trash.
func TestWhatARewindMovedAsideIsNamedUntilItIsDropped(t *testing.T) {
	m := newMachine(t, "[storage]\nfile_mb = 1\n")
	r := m.up()
	r.healthy()
	c := m.client()
	path := filepath.Join(m.workspace(), "notes")
	put := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("then\n"))
	m.must("checkpoint", "-m", "then")
	all := c.log(t)
	large := bytes.Repeat([]byte("now\n"), 1<<20)
	put(large)
	if out := m.must("rewind", strconv.FormatUint(all[len(all)-1].Seq, 10)); !strings.Contains(out, "aside     notes") {
		t.Errorf("the rewind says %q", out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "then\n" {
		t.Errorf("%q %v", got, err)
	}
	listed := func() []string {
		var trash api.Trash
		m.decode(m.must("trash", "--json"), &trash)
		var ids []string
		for _, i := range trash.Items {
			ids = append(ids, string(i.ID))
		}
		return ids
	}
	ids := listed()
	if out := m.must("trash"); len(ids) != 1 || !strings.Contains(out, "notes (file)") {
		t.Fatalf("the trash has %v: %q", ids, out)
	}
	m.must("trash", "restore", ids[0], "kept")
	if got, err := os.ReadFile(filepath.Join(m.workspace(), "kept")); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	put(large)
	m.must("rewind", strconv.FormatUint(all[len(all)-1].Seq, 10))
	if ids = listed(); len(ids) != 1 {
		t.Fatalf("the trash has %v", ids)
	}
	if end := m.run("trash", "drop"); end.code == 0 {
		t.Errorf("dropping nothing: %+v", end)
	}
	m.must("trash", "drop", ids[0])
	if ids = listed(); len(ids) != 0 {
		t.Errorf("the trash has %v", ids)
	}
}
