// Package attacks runs the red team's programs of test/attacks against a choir that it
// starts. test/attacks/lib.py says how a program is written.
package attacks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Corpus is the folder of the programs, from the root of the repository.
const Corpus = "test/attacks"

// A program that has not ended by then has hung: it is ended, and is broken. In an emulated
// machine it may take longer.
const (
	limit         = 8 * time.Minute
	limitEmulated = 40 * time.Minute
)

// Plan names the choir under attack and the programs that attack it.
type Plan struct {
	// Choir is the file of the binary.
	Choir string
	// Corpus is the folder of the programs, and Names lists the ones to run; none means all.
	Corpus string
	Names  []string
	// Settings are keys of the configuration in TOML, in full, such as
	// runtime.mode = "gvisor". They decide about the rung of the isolation ladder.
	Settings string
}

// Run attacks a choir. done is called with the report of each program and the seconds that
// it took. What Run starts has ended when it returns.
func Run(ctx context.Context, p Plan, done func(Report)) (err error) {
	programs, err := find(p.Corpus, p.Names)
	if err != nil {
		return err
	}
	t, err := newTarget(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, program := range programs {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		found := t.attackWith(ctx, program)
		found.Name, found.Took = filepath.Base(filepath.Dir(program)), time.Since(began)
		done(found)
	}
	return nil
}

// find lists the programs of the corpus.
func find(corpus string, names []string) ([]string, error) {
	programs, err := filepath.Glob(filepath.Join(corpus, "*", "attack.*"))
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		programs = slices.DeleteFunc(programs, func(p string) bool { return !slices.Contains(names, filepath.Base(filepath.Dir(p))) })
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no program in %s", corpus)
	}
	return programs, nil
}

// attackWith runs one program and reads what it reports.
func (t *target) attackWith(ctx context.Context, program string) Report {
	limit := limit
	if t.slower() > 1 {
		limit = limitEmulated
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path, err := filepath.Abs(program)
	if err != nil {
		return crashed(err, "")
	}
	argv := []string{"python3", path}
	switch filepath.Ext(path) {
	case ".mjs":
		argv = []string{"node", path}
	case ".sh":
		argv = []string{"bash", path}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(cmd.Environ(), t.env()...)
	cmd.ExtraFiles = t.inherited
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	found := parse(out.String())
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("did not end within " + limit.String())
		}
		found.Attempts = append(found.Attempts, crashed(err, tail(errOut.String(), 600)).Attempts...)
	}
	return found
}

// tail returns the last n bytes of s, without spaces around them.
func tail(s string, n int) string { return strings.TrimSpace(s[max(0, len(s)-n):]) }
