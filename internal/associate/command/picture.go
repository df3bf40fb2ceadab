package command

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"choiros/internal/associate/browser"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// pictureWait limits the time of one picture, with the start of the browser.
const pictureWait = 45 * time.Second

// browsers are the programs that can take a picture; the fastest to start comes first.
var browsers = []string{"/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}

// startBrowser is a shell's command line that starts a browser whose descriptors 3 and 4, where it
// speaks its protocol, are the standard input and output.
const startBrowser = `exec 3<&0 4>&1 </dev/null >/dev/null; exec "$0" "$@"`

// Picture implements tools.Kit's Picture: the browser runs as the task's commands do, and ends with
// the picture.
func (p *Programs) Picture(ctx context.Context, page browser.Page) (*browser.Picture, error) {
	program, err := findBrowser()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp(p.place.Temp(), "choir-browser-")
	if err != nil {
		return nil, choir.Wrap("task.picture", choir.CodeNoSpace, err, "make a folder for the browser")
	}
	defer os.RemoveAll(profile)
	limited, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	stdin, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	replies, output := io.Pipe()
	said := &bounded{max: maxComplaint}
	ended := make(chan error, 1)
	go func() {
		_, err := p.place.Tree().Run(limited, proctree.Spec{
			Argv: append([]string{"/bin/sh", "-c", startBrowser, program}, browser.Args(profile)...), Dir: p.place.Root(),
			Env: p.place.Environment(p.call(), nil), Stdin: stdin, Stdout: pipeSink{output}, Stderr: said,
		})
		output.Close()
		stdin.Close()
		ended <- err
	}()
	pic, err := browser.Shoot(limited, struct {
		io.Reader
		io.Writer
	}{replies, commands}, page)
	cancel()
	replies.Close()
	rerr := <-ended
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(context.Cause(limited), context.DeadlineExceeded):
		return nil, choir.Invalid("url", "no picture was there after %s", pictureWait)
	case err != nil && len(said.kept) > 0:
		return nil, choir.Invalid("url", "%v: %s", err, excerpt.FirstLine(excerpt.Text(said.kept), maxComplaint))
	case err == nil && choir.CodeOf(rerr) == choir.CodeUnavailable:
		return nil, rerr // the tree is gone
	}
	return pic, err
}

// findBrowser returns the browser of this machine; tools.ErrNoProgram if there is none.
func findBrowser() (string, error) {
	for _, program := range browsers {
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
			return program, nil
		}
	}
	return "", tools.ErrNoProgram
}

// pipeSink is a proctree.Sink that writes into a pipe.
type pipeSink struct{ *io.PipeWriter }

// Idle implements proctree.Sink.
func (pipeSink) Idle() {}
