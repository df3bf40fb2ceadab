package main

import "fmt"

// meaning applies an event to the answers.
type meaning func(a *answers, e *event, p value)

// meanings are the events that files, documents, overlays, windows, settings and
// usage follow from.
var meanings = map[string]meaning{
	"file.written": func(a *answers, e *event, p value) {
		for _, f := range list(p, "files") {
			a.files.set(e.Seq, text(f, "path"), f)
		}
	},
	"file.removed": func(a *answers, e *event, p value) {
		paths, _ := p["paths"].([]any) // it always has some
		for _, path := range paths {
			a.files.end(e.Seq, fmt.Sprint(path))
		}
	},
	"window.opened": func(a *answers, e *event, p value) {
		w := pick(p, "id", "window", "app", "app", "title", "title", "subject", "subject", "bounds", "bounds", "desktop", "desktop")
		w["state"], w["focused_seq"] = "normal", float64(e.Seq)
		a.windows.set(e.Seq, text(p, "window"), w)
	},
	"window.moved":    windowMembers("bounds", "desktop"),
	"window.shown":    windowMembers("state", "snap", "was"),
	"window.retitled": windowMembers("title", "subject"),
	"window.focused": func(a *answers, e *event, p value) {
		a.windows.change(e.Seq, text(p, "window"), value{"focused_seq": float64(e.Seq)})
	},
	"window.closed": func(a *answers, e *event, p value) { a.windows.end(e.Seq, text(p, "window")) },
	"theme.changed": func(a *answers, e *event, p value) {
		a.settings.set(e.Seq, "theme", value{"key": "theme", "theme": p})
	},
	"desktop.upgraded": func(a *answers, e *event, p value) { a.settings.set(e.Seq, "source", p) },
	"setting.changed": func(a *answers, e *event, p value) {
		if key := "setting/" + text(p, "key"); text(p, "value") == "" {
			a.settings.end(e.Seq, key)
		} else {
			a.settings.set(e.Seq, key, pick(p, "key", "key", "value", "value"))
		}
	},
	"document.created":   documentCreated,
	"document.versioned": documentVersioned,
	"document.renamed": func(a *answers, e *event, p value) {
		head, ok := a.heads[text(p, "document")]
		if !ok {
			return
		}
		head["title"] = text(p, "title")
		a.documents.change(e.Seq, text(p, "document"), value{"title": p["title"], "seq": float64(e.Seq), "at": e.Time})
	},
	"document.removed": func(a *answers, e *event, p value) { a.documents.end(e.Seq, text(p, "document")) },
	"overlay.added": func(a *answers, e *event, p value) {
		o := pick(p, "reply_to", "reply_to")
		for _, name := range []string{"document", "version", "kind", "anchor", "text"} {
			o[name] = p[name]
		}
		o["id"], o["by"], o["seq"], o["at"] = p["overlay"], e.Source, float64(e.Seq), e.Time
		a.overlays.set(e.Seq, text(p, "document")+"/"+text(p, "overlay"), o)
	},
	"overlay.settled": func(a *answers, e *event, p value) {
		outcome := text(p, "outcome")
		if outcome == "reopened" {
			outcome = ""
		}
		a.overlays.change(e.Seq, text(p, "document")+"/"+text(p, "overlay"), value{"outcome": outcome})
	},
	"model.returned":   modelReturned,
	"timeline.rewound": rewound,
	"timeline.undone": func(a *answers, e *event, p value) {
		a.undos.set(e.Seq, text(p, "of"), value{"seq": float64(e.Seq), "at": e.Time})
	},
}

func windowMembers(names ...string) meaning {
	return func(a *answers, e *event, p value) {
		members := value{}
		for _, name := range names {
			members[name] = p[name]
		}
		a.windows.change(e.Seq, text(p, "window"), members)
	}
}

func documentCreated(a *answers, e *event, p value) {
	id := text(p, "document")
	if a.heads[id] != nil {
		return // the first one holds
	}
	a.heads[id] = value{"run": e.Run, "title": p["title"], "highest": float64(0)}
	doc := pick(p, "content", "content", "blob", "blob")
	doc["version"] = float64(0)
	a.addVersion(e, id, doc)
}

// documentVersioned numbers a version as it wants, or higher when that number is
// given: a version never means two contents.
func documentVersioned(a *answers, e *event, p value) {
	id := text(p, "document")
	head := a.heads[id]
	if head == nil {
		return
	}
	head["highest"] = max(number(head, "highest")+1, number(p, "version"))
	doc := pick(p, "content", "content", "blob", "blob", "note", "note")
	doc["version"] = head["highest"]
	a.addVersion(e, id, doc)
}

func (a *answers) addVersion(e *event, id string, doc value) {
	head := a.heads[id]
	doc["id"], doc["run"], doc["title"], doc["seq"], doc["at"] = id, head["run"], head["title"], float64(e.Seq), e.Time
	a.versions[fmt.Sprint(id, "/", doc["version"])] = doc
	row := value{}
	for name, m := range doc {
		if name != "content" && name != "blob" {
			row[name] = m
		}
	}
	a.documents.set(e.Seq, id, row)
}

func modelReturned(a *answers, e *event, p value) {
	u := a.usage[e.Run]
	if u == nil {
		u = value{"calls": 0.0, "failed": 0.0, "input_tokens": 0.0, "output_tokens": 0.0, "cached_tokens": 0.0, "cost_usd": 0.0, "duration_ms": 0.0}
		a.usage[e.Run] = u
	}
	u["calls"] = number(u, "calls") + 1
	if text(p, "code") != "" {
		u["failed"] = number(u, "failed") + 1
	}
	for _, name := range []string{"input_tokens", "output_tokens", "cached_tokens", "cost_usd", "duration_ms"} {
		u[name] = number(u, name) + number(p, name)
	}
}

// rewound puts everything that can be rewound back. A document gets a new version
// with the content of then.
func rewound(a *answers, e *event, p value) {
	to := uint64(number(p, "to_seq"))
	for _, h := range []*history{&a.files, &a.settings, &a.windows, &a.overlays, &a.undos} {
		h.rewind(e.Seq, to)
	}
	then := a.documents.then(to)
	for _, id := range a.documents.differing(then) {
		old, ok := then[id]
		if !ok {
			a.documents.end(e.Seq, id)
			continue
		}
		head := a.heads[id]
		head["highest"], head["title"] = number(head, "highest")+1, old["title"]
		doc := pick(a.versions[fmt.Sprint(id, "/", old["version"])], "content", "content", "blob", "blob")
		doc["version"], doc["note"] = head["highest"], fmt.Sprintf("version %v, as after event %d", old["version"], to)
		a.addVersion(e, id, doc)
	}
}
