package selfsource

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

// reports remember what broke last, as long as choir runs.
type reports struct {
	mu     sync.Mutex // guards what follows
	last   Broke
	source choir.Digest // the source then
	recent []time.Time  // of reports within brokeSpan
}

// ReportBroke records that the desktop's source does not work, once for the same
// words about the same source, as something of the run whose change of it came
// last. Code rate_limited when too much is said, conflict when the source is as
// it was shipped.
func (s *Source) ReportBroke(ctx context.Context, role choir.Role, p choir.DesktopBroke) (Broke, error) {
	p = cleanBroke(p)
	if p.Message == "" {
		return Broke{}, choir.Invalid("message", "says nothing")
	}
	if !s.reports.allow(s.cfg.Now()) {
		return Broke{}, choir.E("computer.broke", choir.CodeRateLimited, "more than %d reports of a broken desktop in %s", brokeBurst, brokeSpan).
			WithRemedy("mend what was reported first")
	}
	source, run, err := s.lastToChange(ctx)
	if err != nil {
		return Broke{}, err
	}
	// The same words about the same source are the same event.
	id := choir.DeriveID(s.cfg.Computer, string(choir.TypeDesktopBroke), string(role), string(source), string(run), string(p.Origin), p.Message, p.File, strconv.Itoa(p.Line))
	receipt, err := s.events.AppendToRun(ctx, role, id, run, "", p)
	if err != nil {
		return Broke{}, err
	}
	out := Broke{Seq: receipt.Seq, Run: run, Message: p.Message, File: p.File, Line: p.Line}
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	s.reports.source, s.reports.last = source, out
	return out, nil
}

// NoteBroke is ReportBroke for the server that builds the source.
func (s *Source) NoteBroke(ctx context.Context, p choir.DesktopBroke) error {
	_, err := s.ReportBroke(ctx, choir.RoleControl, p)
	return err
}

// Broke returns what broke of the source as the log knows it; nil when nothing did, or
// the source was changed since.
func (s *Source) Broke(ctx context.Context) (*Broke, error) {
	s.reports.mu.Lock()
	out, source := s.reports.last, s.reports.source
	s.reports.mu.Unlock()
	if source == "" {
		return nil, nil
	}
	state, err := s.state(ctx)
	if err != nil || state.now != source {
		return nil, err
	}
	if out.Run == "" {
		return &out, nil
	}
	r, err := s.log.Run(ctx, out.Run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return &out, nil // tasks that a person wrote, without a prompt
	}
	out.Open = r.State.Open()
	return &out, err
}

// allow reports whether one more report may be taken up now, and counts it.
func (r *reports) allow(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.recent) > 0 && now.Sub(r.recent[0]) >= brokeSpan {
		r.recent = r.recent[1:]
	}
	if len(r.recent) >= brokeBurst {
		return false
	}
	r.recent = append(r.recent, now)
	return true
}

// lastToChange finds the source as it is in the workspace, and the run that changed it
// last. What the log does not know yet is the task's that works, a person's when none
// does. Code conflict when the source is as it was shipped.
func (s *Source) lastToChange(ctx context.Context) (source choir.Digest, run choir.ID, err error) {
	source, known, err := s.folderNow(ctx)
	if err != nil {
		return "", "", err
	}
	here := known
	here.now = source
	if !here.changed() {
		return "", "", choir.E("computer.broke", choir.CodeConflict, "the desktop's source is as it was shipped")
	}
	if known.now != source {
		return source, s.cfg.Running(ctx), nil
	}
	seq, err := s.log.LastChange(ctx, Folder+"/")
	if err != nil || seq == 0 {
		return source, "", err
	}
	e, err := s.log.At(ctx, seq)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return source, "", nil // nobody can say which run changed it
	}
	return source, e.Run, err
}

// folderNow scans the source's folder in the workspace and returns its digest, and what
// the log knows of it.
func (s *Source) folderNow(ctx context.Context) (choir.Digest, state, error) {
	unlock, err := s.workspace.Lock(ctx)
	if err != nil {
		return "", state{}, err
	}
	defer unlock()
	now, _, err := s.workspace.Scan(ctx, Folder)
	if err != nil {
		return "", state{}, err
	}
	known, err := s.state(ctx)
	if err != nil {
		return "", known, err
	}
	d, err := s.folderIn(ctx, now.Root)
	return d, known, err
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
