package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/internal/choir"
)

// driver is the program that drives the browser, below the repository.
const (
	driverFolder  = "ui/e2e"
	driverName    = "bench.js"
	driverPackage = "node_modules/playwright-core"
	// browserGrace is how long it may take to end.
	browserGrace = 10 * time.Second
)

// browser is a Chromium, driven by a Node program that reads what to do line by
// line and answers each.
type browser struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// asked is one line for the program.
type asked struct {
	Do  string `json:"do"`
	URL string `json:"url,omitempty"`
	// Wire is where the page of `open` says what it sees, in raw NATS.
	Wire string `json:"wire,omitempty"`
	// Stream is where the page of `open` hears of a JetStream consumer; nil for no such page.
	Stream *streamWire `json:"stream,omitempty"`
	// Folder is where `bare` builds the bare page.
	Folder string `json:"folder,omitempty"`
}

// streamWire is where and as whom a page connects to the JetStream server, and the subject
// on which its consumer delivers.
type streamWire struct {
	URL     string `json:"url"`
	User    string `json:"user"`
	Pass    string `json:"pass"`
	Subject string `json:"subject"`
}

// answered is its answer, or what it says at first.
type answered struct {
	// Missing says why there is no browser, in the first line only.
	Missing string `json:"missing,omitempty"`
	// Error says why what was asked for was not done.
	Error string `json:"error,omitempty"`
	// Value is the measurement, in the unit of its row.
	Value float64 `json:"value,omitempty"`
	// Long are the tasks that kept the page for more than 50 ms, in milliseconds.
	Long []float64 `json:"long,omitempty"`
}

// findUpwards finds a folder of the repository that has a file, upwards from where
// choir was started and from where it lies. It returns an empty path when there is none.
func findUpwards(folder, file string) string {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if self, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(self))
	}
	for _, dir := range starts {
		for {
			found := filepath.Join(dir, folder)
			if _, err := os.Stat(filepath.Join(found, file)); err == nil {
				return found
			}
			above := filepath.Dir(dir)
			if above == dir {
				break
			}
			dir = above
		}
	}
	return ""
}

// browse starts the program; why says what is missing for it here. Its files,
// and those of its browsers, are the lab's.
func (l *lab) browse(ctx context.Context) (b *browser, why string, err error) {
	folder := findUpwards(driverFolder, driverName)
	if folder == "" {
		return nil, "the browser is driven from choir's repository (" + driverFolder + "/" + driverName + "), which is not here: run it there", nil
	}
	if _, err := os.Stat(filepath.Join(folder, driverPackage)); err != nil {
		return nil, "the packages of " + folder + " are not installed: npm ci there", nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "node is not installed: " + err.Error(), nil
	}
	home, err := l.folder()
	if err != nil {
		return nil, "", err
	}
	b = &browser{cmd: exec.CommandContext(ctx, node, driverName)}
	b.cmd.Dir = folder
	b.cmd.Env = []string{"PATH=" + filepath.Dir(node) + ":" + systemPath, "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8"}
	// It closes its browsers when it is told to end.
	b.cmd.Cancel = func() error { return b.cmd.Process.Signal(os.Interrupt) }
	b.cmd.WaitDelay = browserGrace
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := b.cmd.Start(); err != nil {
		return nil, "", choir.Wrap("bench.browser", choir.CodeUnavailable, err, "start node")
	}
	b.lines = bufio.NewScanner(out)
	first, err := b.read()
	if err != nil || first.Missing != "" {
		b.close()
		return nil, first.Missing, err
	}
	return b, "", nil
}

// ask has something done.
func (b *browser) ask(a asked) (answered, error) {
	raw, err := json.Marshal(a)
	if err == nil {
		_, err = b.in.Write(append(raw, '\n'))
	}
	if err != nil {
		return answered{}, choir.Wrap("bench.browser", choir.CodeUnavailable, err, "ask the browser to %s", a.Do)
	}
	return b.read()
}

func (b *browser) read() (said answered, err error) {
	if !b.lines.Scan() {
		return said, choir.Wrap("bench.browser", choir.CodeUnavailable, cmp.Or(b.lines.Err(), io.ErrUnexpectedEOF), "hear the program that drives the browser")
	}
	if err := choir.DecodeStrict(b.lines.Bytes(), &said); err != nil {
		return said, err
	}
	if said.Error != "" {
		err = choir.E("bench.browser", choir.CodeInternal, "the browser: %s", said.Error)
	}
	return said, err
}

// close ends the program and its browsers.
func (b *browser) close() {
	b.in.Close()
	late := time.AfterFunc(browserGrace, func() { b.cmd.Process.Kill() })
	defer late.Stop()
	// However it ended, it is gone.
	_ = b.cmd.Wait()
}
