package computer

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"choiros/internal/choir"
)

// How often what broke of the desktop is recorded: a page in a loop says it all
// the time, and must not fill the log.
const (
	brokeBurst = 20
	brokeSpan  = time.Minute
)

// Bounds of what a page or its server may say, in bytes.
const (
	maxBrokeMessage = 2000
	maxBrokeLine    = 10_000_000
)

// Broke is what broke of the desktop's source as it is now, in words that nobody
// vouches for.
type Broke struct {
	Seq     uint64   `json:"seq" doc:"Event that tells of it."`
	Run     choir.ID `json:"run,omitempty" doc:"Run whose change of the source came last; absent when a person made it."`
	Open    bool     `json:"open,omitempty" doc:"That run has not ended."`
	Message string   `json:"message" doc:"What the page or its server said."`
	File    string   `json:"file,omitempty" doc:"Where, below the source's folder."`
	Line    int      `json:"line,omitempty"`
}

// broken remembers what broke last, as long as choir runs.
type broken struct {
	mu     sync.Mutex // guards what follows
	last   Broke
	source choir.Digest // the source then
	recent []time.Time  // of reports within brokeSpan
}

// ReportBroke records that the desktop's source does not work, once for the same
// words about the same source, as something of the run whose change of it came
// last. Code rate_limited when too much is said, conflict when the source is as
// it was shipped.
func (c *Computer) ReportBroke(ctx context.Context, role choir.Role, p choir.DesktopBroke) (Broke, error) {
	p = cleanBroke(p)
	if p.Message == "" {
		return Broke{}, choir.Invalid("message", "says nothing")
	}
	b := &c.broken
	if !b.take(c.cfg.Now()) {
		return Broke{}, choir.E("computer.broke", choir.CodeRateLimited, "more than %d reports of a broken desktop in %s", brokeBurst, brokeSpan).
			WithRemedy("mend what was reported first")
	}
	source, run, err := c.lastToChange(ctx)
	if err != nil {
		return Broke{}, err
	}
	// The same words about the same source are the same event.
	id := choir.DeriveID(c.cfg.ID, string(choir.TypeDesktopBroke), string(role), string(source), string(run), string(p.Origin), p.Message, p.File, strconv.Itoa(p.Line))
	receipt, err := c.events.AppendToRun(ctx, role, id, run, "", p)
	if err != nil {
		return Broke{}, err
	}
	out := Broke{Seq: receipt.Seq, Run: run, Message: p.Message, File: p.File, Line: p.Line}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.source, b.last = source, out
	return out, nil
}

// NoteBroke is ReportBroke for the server that builds the source.
func (c *Computer) NoteBroke(ctx context.Context, p choir.DesktopBroke) error {
	_, err := c.ReportBroke(ctx, choir.RoleControl, p)
	return err
}

// SourceBroke is what broke of the source as the log knows it; nil when nothing
// did, or it was changed since.
func (c *Computer) SourceBroke(ctx context.Context) (*Broke, error) {
	b := &c.broken
	b.mu.Lock()
	out, source := b.last, b.source
	b.mu.Unlock()
	if source == "" {
		return nil, nil
	}
	s, err := c.sourceState(ctx)
	if err != nil || s.now != source {
		return nil, err
	}
	if out.Run == "" {
		return &out, nil
	}
	r, err := c.store.Run(ctx, out.Run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return &out, nil // tasks that a person wrote, without a prompt
	}
	out.Open = r.State.Open()
	return &out, err
}

// take says whether one more may be looked at now.
func (b *broken) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.recent) > 0 && now.Sub(b.recent[0]) >= brokeSpan {
		b.recent = b.recent[1:]
	}
	if len(b.recent) >= brokeBurst {
		return false
	}
	b.recent = append(b.recent, now)
	return true
}

// lastToChange is the desktop's source as it is in the workspace, and the run
// that changed it last. What the log does not know yet is the task's that works,
// a person's when none does.
func (c *Computer) lastToChange(ctx context.Context) (source choir.Digest, run choir.ID, err error) {
	source, known, err := c.sourceNow(ctx)
	if err != nil {
		return "", "", err
	}
	here := known
	here.now = source
	if !here.changed() {
		return "", "", choir.E("computer.broke", choir.CodeConflict, "the desktop's source is as it was shipped")
	}
	if known.now != source {
		run, _ = c.roles.Running(ctx)
		return source, run, nil
	}
	seq, err := c.store.LastChange(ctx, Source+"/")
	if err != nil || seq == 0 {
		return source, "", err
	}
	e, err := c.store.At(ctx, seq)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return source, "", nil // nobody can say which run changed it
	}
	return source, e.Run, err
}

// sourceNow looks at the source's folder in the workspace; beside it, what the log
// knows of it.
func (c *Computer) sourceNow(ctx context.Context) (choir.Digest, sourceState, error) {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return "", sourceState{}, err
	}
	defer unlock()
	now, _, err := c.workspace.Scan(ctx, Source)
	if err != nil {
		return "", sourceState{}, err
	}
	state, err := c.sourceState(ctx)
	if err != nil {
		return "", state, err
	}
	d, err := c.sourceIn(ctx, now.Root)
	return d, state, err
}

// cleanBroke bounds what was said, and takes out what would not stay text.
func cleanBroke(p choir.DesktopBroke) choir.DesktopBroke {
	p.Message = plainText(p.Message, maxBrokeMessage)
	// The shell's own bar names the file: nothing but a path gets there.
	p.File = choir.PlainPath(p.File)
	p.Line = min(max(p.Line, 0), maxBrokeLine)
	return p
}

// plainText is text without control characters but line breaks and tabs, without
// what turns its direction around, and of so many bytes at most.
func plainText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return strings.TrimSpace(s)
}
