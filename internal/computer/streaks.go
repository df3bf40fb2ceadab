package computer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/timeline"
)

// streakGap is how long a person may rest between two changes of one streak.
const streakGap = 5 * time.Minute

// streak is what a person does many times in a row, which is one mark: windows
// put in place, a document being written. It stands at its newest event.
type streak struct {
	kind      MarkKind
	newest    choir.Event
	oldest    choir.Event
	document  choir.ID
	did       []string   // what was done, the newest first, each once
	windows   []choir.ID // those that were changed, the newest first, each once
	names     map[choir.ID]string
	elsewhere bool // its mark is on a page before
}

// deed is one change of a streak.
type deed struct {
	kind             MarkKind
	did              string
	window, document choir.ID
	name             string // of the window, when the event has it
}

// deedOf is what an event adds to a streak; false when it belongs to none.
// Focus and titles follow from other changes.
func deedOf(e *choir.Event) (deed, bool, error) {
	switch e.Type {
	case choir.TypeWindowOpened, choir.TypeWindowClosed, choir.TypeWindowMoved, choir.TypeWindowShown:
	case choir.TypeDocumentCreated, choir.TypeDocumentVersioned, choir.TypeDocumentRenamed, choir.TypeDocumentRemoved:
		if e.Source != choir.SourceUser && e.Source != choir.SourceDesktop {
			return deed{}, false, nil // a run's are told by its own marks
		}
	default:
		return deed{}, false, nil
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return deed{}, false, err
	}
	s := deed{kind: MarkWindows}
	switch p := p.(type) {
	case *choir.WindowOpened:
		s.did, s.window, s.name = "opened", p.Window, cmp.Or(p.Title, p.App)
	case *choir.WindowClosed:
		s.did, s.window = "closed", p.Window
	case *choir.WindowMoved:
		s.did, s.window = "moved", p.Window
	case *choir.WindowShown:
		s.did, s.window = shownWords(p.State), p.Window
	case *choir.DocumentCreated:
		s.kind, s.did, s.document = MarkDocument, "began", p.Document
	case *choir.DocumentVersioned:
		s.kind, s.did, s.document = MarkDocument, "wrote", p.Document
	case *choir.DocumentRenamed:
		s.kind, s.did, s.document = MarkDocument, "renamed", p.Document
	case *choir.DocumentRemoved:
		s.kind, s.did, s.document = MarkDocument, "removed", p.Document
	}
	return s, true, nil
}

func shownWords(state choir.WindowState) string {
	if state == choir.WindowNormal {
		return "restored"
	}
	return string(state)
}

// continuing begins with the streak whose mark is at event seq, on a page before:
// what is left of it has no mark of its own.
func (w *markWalk) continuing(seq uint64) error {
	e, err := w.c.store.At(w.ctx, seq)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return nil // the marks of a damaged log are those of the events it has
	}
	if err != nil {
		return err
	}
	if _, err := w.part(&e); err != nil || w.streak == nil {
		return err
	}
	w.streak.elsewhere = true
	return nil
}

// part takes up an event as part of a streak, and says whether it is.
func (w *markWalk) part(e *choir.Event) (bool, error) {
	s, ok, err := deedOf(e)
	if err != nil || !ok {
		return false, err
	}
	if k := w.streak; k == nil || k.kind != s.kind || k.document != s.document || k.oldest.Source != e.Source ||
		k.oldest.Time.Std().Sub(e.Time.Std()) > streakGap {
		if err := w.endStreak(); err != nil {
			return true, err
		}
		w.streak = &streak{kind: s.kind, newest: *e, document: s.document, names: map[choir.ID]string{}}
	}
	k := w.streak
	k.oldest = *e
	if !slices.Contains(k.did, s.did) {
		k.did = append(k.did, s.did)
	}
	if s.window != "" && !slices.Contains(k.windows, s.window) {
		k.windows = append(k.windows, s.window)
	}
	if s.name != "" {
		k.names[s.window] = s.name
	}
	return true, nil
}

// endStreak makes the mark of a streak of which all has been seen.
func (w *markWalk) endStreak() error {
	k := w.streak
	w.streak = nil
	if k == nil || k.elsewhere {
		return nil
	}
	m := markOf(&k.newest, k.kind, "")
	var err error
	if k.kind == MarkDocument {
		m.Text, err = w.documentWords(k)
	} else {
		m.Text, err = w.windowWords(k)
	}
	w.marks = append(w.marks, m)
	return err
}

// documentWords says what became of a document.
func (w *markWalk) documentWords(k *streak) (string, error) {
	did := k.did[0]
	if slices.Contains(k.did, "began") && did != "removed" {
		did = "began"
	}
	d, err := w.c.store.Document(w.ctx, k.document, -1)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "you " + did + " a document", nil
	}
	return "you " + did + " " + timeline.Line(d.Title), err
}

// windowWords says what became of windows. A title can be of another moment than
// the streak's: what a window shows changes, and its bar with it.
func (w *markWalk) windowWords(k *streak) (string, error) {
	if slices.ContainsFunc(k.windows, func(id choir.ID) bool { return k.names[id] == "" }) {
		before, err := w.c.store.Windows(w.ctx, k.oldest.Seq-1)
		if err != nil {
			return "", err
		}
		for _, win := range before {
			if k.names[win.ID] == "" {
				k.names[win.ID] = cmp.Or(win.Title, win.App)
			}
		}
	}
	names := make([]string, 0, len(k.windows))
	for _, id := range k.windows {
		if name := timeline.Line(cmp.Or(k.names[id], "a window")); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	did := k.did[0]
	if len(k.did) > 1 && (len(names) > 1 || !slices.Contains(k.did, "opened") || slices.Contains(k.did, "closed")) {
		did = "arranged"
	} else if len(k.did) > 1 {
		did = "opened"
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("you %s %s and %d more", did, strings.Join(names[:shown], ", "), more), nil
	}
	return "you " + did + " " + strings.Join(names, ", "), nil
}
