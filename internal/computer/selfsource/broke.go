package selfsource

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/time/rate"

	"choiros/internal/choir"
)

// How often what broke of the desktop is recorded: so many times at once, and as many
// again in each span. A page in a loop says it all the time, and must not fill the log.
const (
	brokeBurst = 20
	brokeSpan  = time.Minute
)

// Bounds of what a page or its server may say, in bytes.
const (
	maxBrokeMessage = 2000
	maxBrokeLine    = 10_000_000
)

// Broke describes a failure of the desktop's source as it is now, in words from an
// untrusted page.
type Broke struct {
	Seq     uint64   `json:"seq" doc:"Event that tells of it."`
	Run     choir.ID `json:"run,omitempty" doc:"Run whose change of the source came last; absent when a person made it."`
	Open    bool     `json:"open,omitempty" doc:"That run has not ended."`
	Message string   `json:"message" doc:"What the page or its server said."`
	File    string   `json:"file,omitempty" doc:"Where, below the source's folder."`
	Line    int      `json:"line,omitempty"`
}

// reports remembers the latest failure that was reported, until choir ends.
type reports struct {
	mu     sync.Mutex // guards what follows
	last   Broke
	source choir.Digest // the source then
}

// newBrokeLimit returns the limiter for recorded failures.
func newBrokeLimit() *rate.Limiter {
	return rate.NewLimiter(rate.Every(brokeSpan/brokeBurst), brokeBurst)
}

// ReportBroke records that the desktop's source fails, under the run that changed the
// source last. The same message about the same source is recorded once. Code
// rate_limited: too many reports; conflict: the source is unchanged since it was
// shipped.
func (s *Source) ReportBroke(ctx context.Context, role choir.Role, p choir.DesktopBroke) (Broke, error) {
	p = cleanBroke(p)
	if p.Message == "" {
		return Broke{}, choir.RefuseField("message", choir.ReasonFieldSaysNothing)
	}
	if !s.brokeLimit.AllowN(s.cfg.Now(), 1) {
		return Broke{}, choir.Refuse("computer.broke", choir.ReasonTooManyBroke, choir.CountOf("n", brokeBurst), choir.SecondsOf("span", brokeSpan))
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

// NoteBroke is ReportBroke for the development server that builds the source.
func (s *Source) NoteBroke(ctx context.Context, p choir.DesktopBroke) error {
	_, err := s.ReportBroke(ctx, choir.RoleControl, p)
	return err
}

// Broke returns the latest failure of the source in the log; nil if there is none or
// the source has changed since.
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

// lastToChange returns the digest of the source in the workspace and the run that
// changed it last. An unrecorded change belongs to the run of the working task, or to
// no run. Code conflict: the source is unchanged since it was shipped.
func (s *Source) lastToChange(ctx context.Context) (source choir.Digest, run choir.ID, err error) {
	source, known, err := s.folderNow(ctx)
	if err != nil {
		return "", "", err
	}
	here := known
	here.now = source
	if !here.changed() {
		return "", "", choir.Refuse("computer.broke", choir.ReasonSourceAsShipped)
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

// folderNow scans the source's folder in the workspace. It returns the folder's digest
// and the state of the source according to the log.
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

// cleanBroke truncates the texts of a failure report and removes control characters.
func cleanBroke(p choir.DesktopBroke) choir.DesktopBroke {
	p.Message = plainText(p.Message, maxBrokeMessage)
	// The shell's own bar names the file: nothing but a path gets there.
	p.File = choir.PlainPath(p.File)
	p.Line = min(max(p.Line, 0), maxBrokeLine)
	return p
}

// plainText removes control characters, except line breaks and tabs, and marks of text
// direction from s, and truncates it to limit bytes.
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
