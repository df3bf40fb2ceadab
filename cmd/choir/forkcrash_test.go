package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// TestKilledForksAreWholeOrNotThere kills choir at random moments while it forks
// and imports, and looks at what is there when it is up again.
func TestKilledForksAreWholeOrNotThere(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	r.healthy()
	m.must("repo", "add", files{"a.txt": "one\n", "b/c.txt": "two\n"}.repo(t, "p"))
	file := filepath.Join(t.TempDir(), "computer.choir")
	m.must("export", file)
	rounds := 6
	if soaking() {
		rounds = 200
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range rounds {
		name := fmt.Sprintf("made %d", i)
		args := []string{"fork", "--name", name}
		if i%2 == 1 {
			args = []string{"import", "--name", name, file}
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		making := m.command(ctx, args...)
		if err := making.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = making.Wait() // without choir it ends, one way or the other
		}()
		select {
		case <-ended: // it was faster
		case <-time.After(time.Duration(rnd.IntN(200)) * time.Millisecond):
		}
		r.kill()
		<-ended
		cancel()
		r = m.up()
		m.madeWholeOrNot(name)
	}
}

// madeWholeOrNot holds what a crash left against what may be there.
func (m *machine) madeWholeOrNot(name string) {
	m.t.Helper()
	c := m.client()
	var list []api.ComputerView
	if err := c.get(m.t.Context(), "/api/computers", &list); err != nil {
		m.t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(m.data, "computers"))
	if err != nil || len(left) != len(list) {
		m.t.Errorf("%d folders and %d computers, %v", len(left), len(list), err)
	}
	for _, v := range list {
		if _, err := os.Stat(filepath.Join(m.data, "computers", string(v.ID))); err != nil {
			m.t.Errorf("%s has no folder: %v", v.Name, err)
		}
		if v.Name != name {
			continue
		}
		if out := m.must("log", "--verify", "--computer", name); !strings.Contains(out, "The log is whole") {
			m.t.Errorf("%s: %s", name, out)
		}
		forked := *c
		forked.computer = v.ID
		var told int
		for _, e := range c.log(m.t) {
			if e.Type == "timeline.forked" && strings.Contains(string(e.Payload), string(v.ID)) {
				told++
			}
		}
		if began := lastOf(forked.log(m.t), "computer.forked"); began.Type == choir.Type("computer.forked") && told != 1 {
			m.t.Errorf("the source tells of %s %d times", name, told)
		}
	}
}
