package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// TestALongRewindIsStopped has a file in the workspace that takes minutes to be read,
// and stops a rewind over HTTP, with the verb, and by a signal: each time the
// workspace is as it was. Without the file the rewind is done.
func TestALongRewindIsStopped(t *testing.T) {
	m := newMachine(t, "[storage]\nfile_mb = 0\nworkspace_mb = 0\n")
	r := m.up()
	r.healthy()
	c := m.client()
	var p *api.Problem
	if err := c.call(t.Context(), http.MethodDelete, c.path("/rewind"), nil, nil); !errors.As(err, &p) || p.Code != choir.CodeConflict {
		t.Errorf("stopping no rewind: %v", err)
	}
	if end := m.run("rewind", "--cancel"); end.code == 0 || !strings.Contains(end.errOut, "no rewind is under way") {
		t.Errorf("stopping no rewind: %+v", end)
	}
	head := uint64(0)
	m.eventually("the first snapshot", func() error {
		for _, e := range c.log(t) {
			if e.Type == "snapshot.taken" {
				head = e.Seq
			}
		}
		if head == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	big, mark := filepath.Join(m.workspace(), "big"), filepath.Join(m.workspace(), "mark")
	if err := errors.Join(os.WriteFile(mark, []byte("here\n"), 0o644), os.WriteFile(big, nil, 0o644), os.Truncate(big, 1<<40)); err != nil {
		t.Fatal(err)
	}
	m.stopOverHTTP(c, head)
	m.unchanged(c, mark, big)

	m.stopWithVerb(head)
	m.unchanged(c, mark, big)

	m.interrupt(c, head)
	m.unchanged(c, mark, big)

	if err := os.Remove(big); err != nil {
		t.Fatal(err)
	}
	m.must("rewind", strconv.FormatUint(head, 10))
	if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the rewind left what came after: %v", err)
	}
}

// pending waits until a rewind says how far it is.
func (m *machine) pending(c *client) {
	m.t.Helper()
	m.eventually("the rewind is under way", func() error {
		var s api.RewindState
		if err := c.get(m.t.Context(), c.path("/rewind"), &s); err != nil {
			return err
		}
		if !s.Pending || s.Work == nil || s.Work.Entries == 0 {
			return errors.New("it is not")
		}
		return nil
	})
}

// stopOverHTTP begins a rewind, which is accepted soon, and stops it.
func (m *machine) stopOverHTTP(c *client, to uint64) {
	m.t.Helper()
	began := time.Now()
	var accepted api.Rewound
	err := c.post(m.t.Context(), c.path("/rewind"), api.RewindRequest{ToSeq: to}, &accepted)
	if took := time.Since(began); err != nil || !accepted.Pending || took > 10*time.Second {
		m.t.Errorf("accepted after %s: %v %+v", took, err, accepted)
	}
	var p *api.Problem
	if err != nil {
		m.t.FailNow()
	}
	if err := c.post(m.t.Context(), c.path("/rewind"), api.RewindRequest{ToSeq: to}, &accepted); !errors.As(err, &p) || p.Code != choir.CodeBusy {
		m.t.Errorf("a second rewind beside it: %v", err)
	}
	m.pending(c)
	var s api.RewindState
	if err := c.call(m.t.Context(), http.MethodDelete, c.path("/rewind"), nil, &s); err != nil || s.Pending || s.Failed == nil || s.Done != nil {
		m.t.Errorf("stopped: %v %+v", err, s)
	}
}

// stopWithVerb stops the rewind of a command, once it says how far it is, by another.
func (m *machine) stopWithVerb(to uint64) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := m.command(ctx, "rewind", strconv.FormatUint(to, 10))
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "looking ") {
		m.t.Errorf("it says %q: %v", line, err)
	}
	if said := m.must("rewind", "--cancel"); !strings.Contains(said, "as it was before") {
		m.t.Errorf("%q", said)
	}
	if err := cmd.Wait(); err == nil {
		m.t.Errorf("it ended well: %s", &errOut)
	}
}

// interrupt stops the rewind of a command by ctrl-C.
func (m *machine) interrupt(c *client, to uint64) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := m.command(ctx, "rewind", strconv.FormatUint(to, 10)) // interrupted before it says anything
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.pending(c)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		m.t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		m.t.Errorf("it ended well: %s", &out)
	}
	var s api.RewindState
	if err := c.get(m.t.Context(), c.path("/rewind"), &s); err != nil || s.Pending || s.Failed == nil {
		m.t.Errorf("after ctrl-C: %v %+v\n%s", err, s, &out)
	}
}

// unchanged fails the test unless all files are there and no rewind was done.
func (m *machine) unchanged(c *client, files ...string) {
	m.t.Helper()
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			m.t.Error(err)
		}
	}
	for _, e := range c.log(m.t) {
		if e.Type == "timeline.rewound" {
			m.t.Errorf("event %d says that a rewind was done", e.Seq)
		}
	}
}
