// Command testreport runs the parts of `make test`, counts what passed, failed
// and was skipped whatever runner made it, and ends with one plain line.
//
//	testreport PART DIR NAME -- COMMAND...   run a part, keep its counts in DIR
//	testreport sum DIR                       print failures, skips and the line
//
// PART says how to read the command's output: go (go test -json), tap (node
// --test --test-reporter=tap), vitest (its JSON reporter on stdout or in the
// file named by VITEST_OUTPUT), check (one test, by its exit code).
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// A part that has not ended by then has hung: it is ended, and has failed.
const limit = time.Hour

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// hung is why a part was ended.
type hung time.Duration

func (h hung) Error() string {
	return "did not end within " + time.Duration(h).String() + ", and was ended"
}

// reader turns a runner's output into counts, and may tell progress meanwhile.
type reader func(r io.Reader, progress io.Writer) (part, error)

var readers = map[string]reader{"go": readGo, "tap": readTAP, "vitest": readVitest, "check": readCheck}

func run(args []string, out io.Writer) (ok bool, err error) {
	if len(args) == 2 && args[0] == "sum" {
		return sum(args[1], out)
	}
	if len(args) < 5 || readers[args[0]] == nil || args[3] != "--" {
		return false, errors.New("usage: testreport go|tap|vitest|check DIR NAME -- COMMAND... | testreport sum DIR")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, hung(limit))
	defer cancel()
	p, err := runPart(ctx, readers[args[0]], args[2], args[4:], out)
	if err != nil {
		return false, err
	}
	// A failed part lets the others run; sum has the last word.
	return true, p.save(args[1])
}

func runPart(ctx context.Context, read reader, name string, argv []string, out io.Writer) (part, error) {
	start, busy := time.Now(), nowProcessorTime()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// With all that it started, which would keep its output open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return part{}, err
	}
	if err := cmd.Start(); err != nil {
		return part{Name: name, Failures: []failure{{name, err.Error()}}}, nil
	}
	p, readErr := read(stdout, out)
	if readErr != nil {
		p.Failures = append(p.Failures, failure{name, "its output cannot be read: " + readErr.Error()})
		// What is left must be read, or the command waits for ever.
		if _, err := io.Copy(io.Discard, stdout); err != nil {
			return part{}, err
		}
	}
	exit := cmd.Wait()
	if ctx.Err() != nil {
		p.Failures = append(p.Failures, failure{name, context.Cause(ctx).Error()})
	}
	p.Name, p.Seconds = name, time.Since(start).Seconds()
	p.recordExit(name, exit, stderr.String())
	fmt.Fprintf(out, "%-6s %s: %d passed, %d failed, %d skipped (%.1f s%s)\n", p.word(), name, p.Passed, len(p.Failures), len(p.Skips), p.Seconds, describeBusy(busy, nowProcessorTime()))
	for _, f := range p.Failures {
		fmt.Fprintf(out, "  FAIL %s: %s\n", f.Name, f.brief())
	}
	return p, nil
}
