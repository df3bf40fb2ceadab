package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
)

// page is the desktop, open in a browser, and what is behind it.
type page struct {
	*machine
	site    *site
	bare    *site // serves a page with React and nothing else; nil until it was asked for
	browser *browser
	raw     *rawNATS
	stream  *jetStream // nil in a page that does not compare with it
	window  choir.ID   // one whose title is changed
	marks   int
}

// openSite starts a whole choir and a browser for it, with nothing open; why
// says what is missing here. It is closed also when the context has ended.
func (l *lab) openSite(ctx context.Context) (p *page, why string, err error) {
	if why := l.cannotServe(ctx); why != "" {
		return nil, why, nil
	}
	shell, desktop, err := pages()
	if err != nil {
		return nil, err.Error(), nil
	}
	p = &page{}
	if p.browser, why, err = l.browse(ctx); p.browser == nil {
		return nil, why, err
	}
	p.machine, err = l.startDesktop(ctx, 1)
	if err == nil {
		p.site, err = p.serve(shell, desktop)
	}
	if err == nil {
		p.raw, err = startRawNATS()
	}
	if err != nil {
		return nil, "", closing(p, err)
	}
	return p, "", nil
}

func closing(p *page, err error) error {
	if stop := p.close(); err == nil {
		return stop
	}
	return err
}

func (p *page) close() error {
	p.browser.close()
	if p.raw != nil {
		p.raw.close()
	}
	if p.stream != nil {
		p.stream.close()
	}
	for _, s := range []*site{p.site, p.bare} {
		if s != nil {
			s.close()
		}
	}
	if p.machine != nil {
		return p.stop()
	}
	return nil
}

// browse has the browser do something at a new login link.
func (p *page) browse(what string) (answered, error) {
	link, err := p.site.link()
	if err != nil {
		return answered{}, err
	}
	return p.browser.ask(asked{Do: what, URL: link})
}

// browseBare has the browser do something at a page with React and one field,
// which a second gateway serves as it serves the shell.
func (p *page) browseBare(l *lab, what string) (answered, error) {
	if p.bare == nil {
		folder, err := l.folder()
		if err != nil {
			return answered{}, err
		}
		if _, err := p.browser.ask(asked{Do: "bare", Folder: folder}); err != nil {
			return answered{}, err
		}
		if p.bare, err = p.serve(os.DirFS(folder), nil); err != nil {
			return answered{}, err
		}
	}
	return p.browser.ask(asked{Do: what, URL: "http://" + p.bare.host + "/"})
}

// open opens the desktop in a page that says what it sees, with a window in it.
func (p *page) open(ctx context.Context) error {
	link, err := p.site.link()
	if err != nil {
		return err
	}
	ask := asked{Do: "open", URL: link, Wire: p.raw.server.WebsocketURL()}
	if p.stream != nil {
		wire := p.stream.wire()
		ask.Stream = &wire
	}
	if _, err := p.browser.ask(ask); err != nil {
		return err
	}
	opened := choir.WindowOpened{App: "settings", Title: "bench", Bounds: choir.Rect{X: 40, Y: 40, Width: 640, Height: 420}}
	window, _, err := p.c.Desk().OpenWindow(ctx, choir.RoleShell, opened, "")
	p.window = window
	return err
}

// mark is a new one, as wide as all others.
func (p *page) mark() string {
	p.marks++
	return fmt.Sprintf("bench-%06d", p.marks)
}

// commit commits an event with a mark in it, and gives the moment at which the
// log had it, as the bus learns of it.
func (p *page) commit(ctx context.Context, mark string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, sightPatience)
	defer cancel()
	head, _ := p.c.Store().Head()
	type waited struct {
		at  time.Time
		err error
	}
	done := make(chan waited, 1)
	go func() {
		err := p.c.Store().WaitPast(ctx, head)
		done <- waited{time.Now(), err}
	}()
	if _, err := p.c.Desk().ChangeWindow(ctx, choir.RoleShell, p.window, "", desk.RetitleWindow(mark, "")); err != nil {
		cancel()
		<-done
		return time.Time{}, err
	}
	w := <-done
	return w.at, w.err
}

// seenAfter is how long after a commit the page saw it, in milliseconds. On a busy
// machine we may hear of the commit later than the page: then it is done again,
// which leaves out what would look fastest.
func (p *page) seenAfter(ctx context.Context, where string) (float64, error) {
	for range 20 {
		mark := p.mark()
		began, err := p.commit(ctx, mark)
		if err != nil {
			return 0, err
		}
		if ms, err := p.sawAfter(ctx, began, where, mark); err != nil || ms > 0 {
			return ms, err
		}
	}
	return 0, choir.E("bench.page", choir.CodeBusy, "the page saw every commit before this process was told of it").
		WithRemedy("measure on a machine that does less besides")
}

// sawAfter is how long after a moment the page saw a mark, in milliseconds.
func (p *page) sawAfter(ctx context.Context, began time.Time, where, mark string) (float64, error) {
	at, err := p.raw.await(ctx, where, mark)
	if err != nil {
		return 0, err
	}
	ahead, err := p.raw.ahead(ctx)
	return at + ahead - sinceEpoch(began), err
}
