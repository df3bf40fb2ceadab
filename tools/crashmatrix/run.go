package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// shm is in memory, because a power cut is made by powercut and not by the disk.
const shm = "/dev/shm"

// row is one line of the table.
type row struct {
	name string
	run  func(context.Context, *bench) error
}

// options of a run.
type options struct {
	short, random, keep bool
	rows, workers       int
	seed                uint64
	only                string
	bin                 string
}

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.BoolVar(&o.short, "short", false, "a row of every kind, within a minute")
	flags.BoolVar(&o.random, "random", false, "only random timing, with the release binary")
	flags.BoolVar(&o.keep, "keep", false, "keep the folders of failed rows")
	flags.IntVar(&o.rows, "rows", 0, "how many rows; 0 for what there is")
	flags.IntVar(&o.workers, "workers", 3, "rows at the same time")
	flags.Uint64Var(&o.seed, "seed", 7, "chooses what is left to chance, other than timing; -random takes another each time")
	flags.StringVar(&o.only, "only", "", "only rows whose name has this")
	flags.StringVar(&o.bin, "bin", ".cache/crash", "where tools/crash.sh built the binaries")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.random {
		o.seed = uint64(time.Now().UnixNano())
	}
	l, err := newLab(o)
	if err != nil {
		return err
	}
	defer l.clear()
	rows, err := l.rows(ctx)
	if err != nil {
		return err
	}
	passed, failed := l.all(ctx, rows)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0 || passed == 0:
		return errors.New("the matrix found something")
	}
	return nil
}

// lab is the state that all rows share.
type lab struct {
	options
	self string
	root string

	mu   sync.Mutex // guards the rest and the output
	next int
	pass int
	fail int
}

func newLab(o options) (*lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(shm, "cm-")
	if err != nil {
		return nil, err
	}
	// The sandboxes' own users have to come through.
	return &lab{options: o, self: self, root: dir}, os.Chmod(dir, 0o711)
}

func (l *lab) clear() {
	if l.keep && l.fail > 0 {
		fmt.Println("kept:", l.root)
		return
	}
	if err := os.RemoveAll(l.root); err != nil {
		fmt.Fprintln(os.Stderr, "crashmatrix:", err)
	}
}

// all runs the rows and prints the table as they end.
func (l *lab) all(ctx context.Context, rows []row) (passed, failed int) {
	queue := make(chan row)
	var group sync.WaitGroup
	for i := range max(1, l.workers) {
		group.Go(func() {
			w := &worker{dir: filepath.Join(l.root, fmt.Sprintf("worker-%d", i)), made: map[string]bool{}}
			for r := range queue {
				l.one(ctx, w, r)
			}
		})
	}
	for _, r := range rows {
		select {
		case queue <- r:
		case <-ctx.Done():
		}
	}
	close(queue)
	group.Wait()
	return l.pass, l.fail
}

// worker does one row after the other.
type worker struct {
	dir  string          // where it keeps used folders, see bench.copied
	made map[string]bool // by their kind
}

func (l *lab) one(ctx context.Context, w *worker, r row) {
	began := time.Now()
	b, err := l.bench(r.name)
	if err == nil {
		b.worker = w
		err = r.run(ctx, b)
		if err == nil || !l.keep {
			err = errors.Join(err, b.close())
		} else {
			b.crash()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		return // it was stopped, which says nothing
	}
	verdict := "pass"
	if err != nil {
		verdict = "FAIL"
		l.fail++
	} else {
		l.pass++
	}
	fmt.Printf("%s  %5.1f s  %s\n", verdict, time.Since(began).Seconds(), r.name)
	if err != nil {
		fmt.Printf("      %s\n", strings.ReplaceAll(err.Error(), "\n", "\n      "))
	}
}

// bench is the place of one row.
type bench struct {
	*lab
	machine
	worker *worker
	rand   *rand.Rand
	seed   string
}

// bench lays out the place of a row. Its chances follow from the row's name, so
// that a row alone is the row in the table.
func (l *lab) bench(name string) (*bench, error) {
	l.mu.Lock()
	l.next++
	n := l.next
	l.mu.Unlock()
	dir := filepath.Join(l.root, fmt.Sprint(n))
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails, see hash.Hash
	b := &bench{lab: l, rand: rand.New(rand.NewPCG(h.Sum64(), l.options.seed)), seed: fmt.Sprintf("s%d", n)}
	b.machine = machine{self: l.self, choir: filepath.Join(l.bin, "choir-faults"), dir: dir, data: filepath.Join(dir, "data")}
	if l.random {
		b.choir = filepath.Join(l.bin, "choir-release")
	}
	return b, os.Mkdir(dir, 0o711)
}

// settings of every choir here: no port is shared, nothing is held back.
const settings = "[listen]\naddress = '127.0.0.1:0'\n[limits]\nprompt_burst = 1000\n[bus]\nstream_mb = 16\n"

// fresh lays out an empty data folder.
func (b *bench) fresh() error {
	if err := os.MkdirAll(b.data, 0o711); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(b.data, "choir.toml"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Sync(), f.Close())
}

// used lays out a data folder in which something has happened already.
func (b *bench) used(ctx context.Context) error {
	if err := b.fresh(); err != nil {
		return err
	}
	if err := b.startChoir(""); err != nil {
		return err
	}
	if err := b.watch(b.seed+"-before", []string{"add,task,prompt"}); err != nil {
		return err
	}
	return b.finish(ctx)
}

// begun is used with a copy of what one row before had.
func (b *bench) begun(ctx context.Context) error {
	return b.copied(ctx, "begun", func(m *bench) error { return m.used(ctx) })
}

// copied lays out a copy of a folder that the worker's first row of this kind
// made: its computer has the same id, so each worker has its own. What was not
// synced then cannot be lost now.
func (b *bench) copied(ctx context.Context, kind string, makeIt func(*bench) error) error {
	dir := filepath.Join(b.worker.dir, kind)
	if !b.worker.made[kind] {
		m := *b
		m.machine = machine{self: b.machine.self, choir: b.machine.choir, dir: dir, data: filepath.Join(dir, "data")}
		m.seed = kind
		if err := errors.Join(os.MkdirAll(dir, 0o711), makeIt(&m)); err != nil {
			return errors.Join(err, m.close())
		}
		m.crash()
		b.worker.made[kind] = true
	}
	for _, c := range [][2]string{{filepath.Join(dir, "data"), b.backing()}, {filepath.Join(dir, "acks"), b.ackFile()}} {
		if said, err := exec.CommandContext(ctx, "cp", "-a", c[0], c[1]).CombinedOutput(); err != nil {
			return fmt.Errorf("copy a used folder: %w: %s", err, said)
		}
	}
	return nil
}

// finishRun waits for the driver to end, has choir scan the workspace and verify the
// whole log, and stops it.
func (b *bench) finishRun(ctx context.Context) error {
	if b.driver != nil {
		if err := until(ctx, "the driver ends", func() bool { return b.driver.ended() || b.up.ended() }); err != nil {
			return err
		}
	}
	last, err := start(exec.Command(b.machine.self, "drive", "-data", b.data, "-seed", b.seed+"-after", "verify,look,verify"))
	if err != nil {
		return err
	}
	if err := until(ctx, "choir settles", func() bool { return last.ended() || b.up.ended() }); err != nil {
		return errors.Join(err, last.cmd.Process.Kill())
	}
	if b.up.ended() {
		return errors.Join(errors.New("choir has ended by itself: "+b.last()), last.cmd.Process.Kill())
	}
	if last.err != nil {
		return fmt.Errorf("after the fault: %s", strings.TrimSpace(last.said.String()))
	}
	return b.finish(ctx)
}

// found is everything that is wrong with the folder.
func (b *bench) found(more ...func(*checker)) error {
	acks, err := acknowledged(b.ackFile())
	if err != nil {
		return err
	}
	c := &checker{data: b.data, acks: acks}
	for _, m := range more {
		m(c)
	}
	var all []error
	for _, w := range c.check() {
		all = append(all, errors.New(w))
	}
	return errors.Join(all...)
}

// checkFolder is the checker alone: crashmatrix check DATA [ACKS].
func checkFolder(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: crashmatrix check DATA [ACKS]")
	}
	c := &checker{data: args[0]}
	if len(args) > 1 {
		var err error
		if c.acks, err = acknowledged(args[1]); err != nil {
			return err
		}
	}
	var all []error
	for _, w := range c.check() {
		all = append(all, errors.New(w))
	}
	return errors.Join(all...)
}
