// Command attack runs the red team's programs in test/attacks against one choir
// that it starts, and prints a line for each attack and last
// "N tried, N held, N broken". It fails when one is broken, or none was tried.
//
//	attack [-choir bin/choir] [NAME...]
//
// test/attacks/lib.py says how a program is written.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A program that has not ended by then has hung: it is ended, and is broken.
const limit = 8 * time.Minute

func main() {
	choir := flag.String("choir", "bin/choir", "the binary under attack")
	corpus := flag.String("corpus", "test/attacks", "folder of the programs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	held, err := run(ctx, *choir, *corpus, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
	}
	if err != nil || !held {
		stop()
		os.Exit(1)
	}
}

// run attacks a choir with the programs of the given names, or with all.
func run(ctx context.Context, choir, corpus string, names []string, out io.Writer) (held bool, err error) {
	programs, err := find(corpus, names)
	if err != nil {
		return false, err
	}
	t, err := newTarget(ctx, choir)
	if err != nil {
		return false, err
	}
	var all report
	for _, program := range programs {
		began := time.Now()
		name := filepath.Base(filepath.Dir(program))
		found := t.attackWith(ctx, program)
		fmt.Fprintf(out, "== %s (%.1f s)\n", name, time.Since(began).Seconds())
		found.print(out)
		all.attempts = append(all.attempts, found.attempts...)
	}
	if err := t.close(); err != nil {
		return false, err
	}
	return all.sum(out), nil
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
func (t *target) attackWith(ctx context.Context, program string) report {
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
	cmd.Env = append(os.Environ(), t.env()...)
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
		found.attempts = append(found.attempts, crashed(err, tail(errOut.String(), 600)).attempts...)
	}
	return found
}

func tail(s string, n int) string { return strings.TrimSpace(s[max(0, len(s)-n):]) }
