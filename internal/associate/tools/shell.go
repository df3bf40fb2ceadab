package tools

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

// MaxShown is the largest part of a command's output that the model is given, in bytes.
const MaxShown = 30_000

// maxWaitS is the most seconds that one call waits for a command. A call that wants more waits so long, after
// which the model can wait again.
const maxWaitS = 600

type bash struct {
	Command  string `json:"command,omitempty" choir:"len=1..131072"`
	TimeoutS int    `json:"timeout_s,omitempty" choir:"range=1..86400"`
	Handle   int    `json:"handle,omitempty" choir:"range=1..1000"`
	WaitS    int    `json:"wait_s,omitempty" choir:"range=1..86400"`
	End      bool   `json:"end,omitempty"`
	Stdin    string `json:"stdin,omitempty" choir:"len=0..65536"`
	Open     bool   `json:"stdin_open,omitempty"`
	Close    bool   `json:"stdin_close,omitempty"`
}

// Stdin describes how a call uses the standard input of a command.
type Stdin struct {
	Text  string // is written to it
	Open  bool   // a new command's stays open for more; else it ends after the text
	Close bool   // a running command's ends after the text
}

// Check returns an error unless the call either starts a command or names a running command.
// DecodeStrict calls it.
func (in *bash) Check() error {
	switch {
	case in.Command == "" && in.Handle == 0:
		return choir.Invalid("command", "is required, or the handle of a command that runs")
	case in.Command != "" && in.Handle != 0:
		return choir.Invalid("handle", "is of a command that runs, so command must be absent")
	case in.Handle == 0 && in.End:
		return choir.Invalid("end", "needs the handle of a command that runs")
	case in.Handle != 0 && in.TimeoutS != 0:
		return choir.Invalid("timeout_s", "is only for a new command; wait_s is for a handle")
	case in.Handle != 0 && in.Open:
		return choir.Invalid("stdin_open", "is only for a new command")
	case in.Handle == 0 && in.Close:
		return choir.Invalid("stdin_close", "needs the handle of a command that runs; without stdin_open the input of a new one ends after stdin")
	}
	return nil
}

func (in *bash) waitSeconds() int { return min(in.WaitS, maxWaitS) }

func (in *bash) record() choir.ToolInput {
	return choir.ToolInput{Command: in.Command, TimeoutS: in.TimeoutS, Handle: in.Handle, WaitS: in.waitSeconds(), End: in.End, Stdin: in.Stdin, StdinOpen: in.Open, StdinClose: in.Close}
}

func (in *bash) run(ctx context.Context, k *Kit) (Output, error) {
	stdin := Stdin{in.Stdin, in.Open, in.Close}
	if in.Handle != 0 {
		return k.Running(ctx, in.Handle, in.waitSeconds(), in.End, stdin)
	}
	return k.Shell(ctx, in.Command, in.TimeoutS, in.waitSeconds(), stdin)
}

type fetchURL struct {
	URL string `json:"url" choir:"len=1..8192"`
}

func (in *fetchURL) record() choir.ToolInput { return choir.ToolInput{URL: in.URL} }

func (in *fetchURL) run(context.Context, *Kit) (Output, error) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Output{}, choir.Invalid("url", "%q is not an http or https address", in.URL)
	}
	return Output{}, choir.E("fetch_url", choir.CodeRefused, "fetch_url reaches nothing outside yet: %s was not asked for", u.Host).
		WithRemedy("use bash with curl if the computer's egress policy has the host; else work with what is in the workspace")
}

// Cut shortens a text to about max bytes: it keeps the first third and the last two
// thirds of max, with a note between, because errors stand at the end. It is
// deterministic, and returns shorter texts unchanged.
func Cut(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= max {
		return s
	}
	head, tail := max/3, len(s)-(max-max/3)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", s[:head], tail-head, s[tail:])
}
