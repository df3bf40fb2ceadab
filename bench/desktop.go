package bench

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/workspace"
)

// entryPath is the first module of the desktop's page; probePath is a component of the
// benchmark.
const (
	entryPath = selfsource.Folder + "/src/main.tsx"
	probePath = selfsource.Folder + "/src/BenchProbe.tsx"
)

// benchDesktop measures what a person waits for: the first paint, script, the
// frames of a drag, an event in the page, and an edit of the desktop's own
// source until its colour is on the screen.
func benchDesktop(ctx context.Context, l *lab, emit func(Row)) (err error) {
	measures := []struct {
		row     Row
		measure func(context.Context, *lab, *page, Row) (Row, error)
	}{
		{Row{Case: "first contentful paint", Unit: "ms"}, measurePaint},
		{Row{Case: "first contentful paint, beside a bare page", Unit: "ms"}, beside("paint", "barePaint")},
		{Row{Case: "first key, beside a bare page", Unit: "ms"}, beside("key", "key")},
		{Row{Case: "script until the prompt takes keys", Unit: "KB"}, measureScript},
		{Row{Case: "longest frame of a drag over ten windows", Unit: "ms"}, measureDrag},
		{Row{Case: "event to DOM", Unit: "ms", Durable: l.onDisk()}, measureDOM},
		{Row{Case: "live edit from cold", Unit: "ms", Isolated: true}, measureCold},
		{Row{Case: "live edit", Unit: "ms", Isolated: true}, measureEdit},
	}
	p, why, err := l.openSite(ctx)
	if p == nil {
		for _, m := range measures {
			m.row.Skipped = why
			if err == nil {
				emit(m.row)
			}
		}
		return err
	}
	defer func() { err = closing(p, err) }()
	for _, m := range measures {
		row, err := m.measure(ctx, l, p, m.row)
		if err != nil {
			return choir.Wrap("bench.desktop", "", err, "measure %s", m.row.Case)
		}
		emit(row)
	}
	return nil
}

// measurePaint opens the shell in a browser that was never here, until the
// desktop in its frame has painted what is not blank.
func measurePaint(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	return turns{n: l.count(10), warmup: 1, ours: p.told("paint")}.measure(ctx, r)
}

// beside measures what the browser does at a new login link, in turns with the
// same at a bare page with React.
func beside(ours, bare string) func(context.Context, *lab, *page, Row) (Row, error) {
	return func(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
		peer := func(context.Context) (float64, error) {
			said, err := p.browseBare(l, bare)
			return said.Value, err
		}
		return turns{n: l.count(10), warmup: 1, ours: p.told(ours), peer: peer}.measure(ctx, r)
	}
}

// measureScript is the script of shell and desktop, gzipped, that such a browser
// has when the prompt takes keys, in units of 1,000 bytes.
func measureScript(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	return turns{n: l.count(3), ours: p.told("script")}.measure(ctx, r)
}

func (p *page) told(what string) sample {
	return func(context.Context) (float64, error) {
		said, err := p.browse(what)
		return said.Value, err
	}
}

// measureDrag drags a window over ten others. A drag with a task of more than 50
// ms in it is a failure.
func measureDrag(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	if err := p.open(ctx); err != nil {
		return r, err
	}
	if _, err := p.browser.ask(asked{Do: "cover"}); err != nil {
		return r, err
	}
	var frames samples
	r.Warmup = 1
	for i := -r.Warmup; i < l.count(20); i++ {
		said, err := p.browser.ask(asked{Do: "drag"})
		switch {
		case err != nil:
			return r, err
		case i < 0:
		case len(said.Long) > 0:
			r.Failures++
			r.Failed = fmt.Sprintf("tasks of %v ms", said.Long)
		default:
			frames = append(frames, said.Value)
		}
	}
	r.numbers(frames, nil, false)
	return r, nil
}

// measureDOM is the commit of an event until the page has drawn it.
func measureDOM(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	ours := func(ctx context.Context) (float64, error) { return p.seenAfter(ctx, seenDOM) }
	return turns{n: l.count(200), warmup: l.count(20), ours: ours}.measure(ctx, r)
}

// measureCold is the first change of the source: no development server runs, and
// the page comes from the bundle. The first of all unpacks the packages too.
func measureCold(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	shipped, err := p.readSource(ctx, entryPath)
	if err != nil {
		return r, err
	}
	return turns{n: l.count(5), ours: func(ctx context.Context) (float64, error) {
		before, _ := p.c.Store().Head()
		took, err := p.edit(ctx, entryPath, func(colour string) string { return shipped + plainProbe(colour) })
		if err == nil {
			_, err = p.c.Rewinder().Rewind(ctx, choir.RoleCLI, before, false)
		}
		if err == nil {
			// Back to the bundle, in the page as well.
			_, err = p.browser.ask(asked{Do: "shipped"})
		}
		return took, err
	}}.measure(ctx, r)
}

// measureEdit changes a component while the development server runs.
func measureEdit(ctx context.Context, l *lab, p *page, r Row) (Row, error) {
	shipped, err := p.readSource(ctx, entryPath)
	if err != nil {
		return r, err
	}
	if err := p.write(ctx, probePath, componentProbe("rgb(0, 0, 0)")); err != nil {
		return r, err
	}
	if err := p.write(ctx, entryPath, withComponent(shipped)); err != nil {
		return r, err
	}
	if _, err := p.browser.ask(asked{Do: "live"}); err != nil {
		return r, err
	}
	ours := func(ctx context.Context) (float64, error) { return p.edit(ctx, probePath, componentProbe) }
	return turns{n: l.count(30), warmup: l.count(3), ours: ours}.measure(ctx, r)
}

// edit writes a file with a new colour in it, and gives how long after it was
// begun a frame with that colour was drawn, in milliseconds.
func (p *page) edit(ctx context.Context, path string, content func(colour string) string) (float64, error) {
	p.marks++
	colour := fmt.Sprintf("rgb(%d, %d, 7)", p.marks>>8&255, p.marks&255)
	began := time.Now()
	if err := p.write(ctx, path, content(colour)); err != nil {
		return 0, err
	}
	return p.sawAfter(ctx, began, seenPixel, colour)
}

func (p *page) write(ctx context.Context, path, content string) error {
	_, err := p.c.Workspace().WriteFile(ctx, choir.RoleShell, path, strings.NewReader(content), workspace.Expect{})
	return err
}

func (p *page) readSource(ctx context.Context, path string) (string, error) {
	_, f, err := p.c.Workspace().OpenFile(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	return string(raw), err
}

// plainProbe shows a colour beside whatever the page shows.
func plainProbe(colour string) string {
	return `
const probe = document.createElement("i");
probe.id = "bench-probe";
probe.setAttribute("style", "position: fixed; z-index: 99999; width: 40px; height: 40px; background-color: ` + colour + `");
document.body.append(probe);
`
}

// componentProbe is a component with a colour.
func componentProbe(colour string) string {
	return `export function BenchProbe() {
  return <i id="bench-probe" style={{ position: "fixed", zIndex: 99999, width: 40, height: 40, backgroundColor: "` + colour + `" }} />;
}
`
}

// withComponent shows it beside the desktop.
func withComponent(entry string) string {
	return `import { createRoot as benchRoot } from "react-dom/client";
import { BenchProbe } from "./BenchProbe";
` + entry + `
const bench = document.createElement("div");
document.body.append(bench);
benchRoot(bench).render(<BenchProbe />);
`
}
