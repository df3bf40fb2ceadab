package main

import (
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// TestRefusalsAreSaidInThePersonsLanguage has an empty folder, and a real choir, refuse verbs of a person who speaks German.
func TestRefusalsAreSaidInThePersonsLanguage(t *testing.T) {
	m := newMachine(t, "")
	german := func(args ...string) ran {
		m.env = []string{"LC_ALL=de_DE.UTF-8"}
		defer func() { m.env = nil }()
		return m.run(args...)
	}
	said := german("run")
	if want := "choir: in " + m.data + " gibt es noch keinen Computer\n  einen anlegen mit: choir up --data " + m.data + "\n"; said.code != 1 || said.errOut != want {
		t.Errorf("without a choir: %d %s, want %s", said.code, said.errOut, want)
	}
	m.up().healthy()
	run := "01900000-0000-7000-8000-00000000000a"
	for want, args := range map[string][]string{
		"choir: " + run + " steht nicht im Protokoll\n":                                                        {"run", run, "--cancel"},
		"choir: " + run + " ist weder ein Lauf noch eine Aufgabe noch ein Werkzeugaufruf dieses Computers\n  ": {"undo", run},
	} {
		if said := german(args...); said.code != 1 || !strings.HasPrefix(said.errOut, want) {
			t.Errorf("choir %q: %d %s, want %q", args, said.code, said.errOut, want)
		}
	}
	if said := m.run("undo", run); !strings.Contains(said.errOut, "is neither a run nor a task") {
		t.Errorf("in English: %s", said.errOut)
	}
	// JSON is for programs: it has the English sentence, the reason and the values.
	var p api.Problem
	if err := json.Unmarshal([]byte(german("undo", run, "--json").out), &p); err != nil {
		t.Fatal(err)
	}
	if p.Reason != choir.ReasonUndoUnknown || len(p.Values) != 1 || p.Values[0].Text != run || !strings.Contains(p.Detail, "is neither") {
		t.Errorf("in JSON: %+v", p)
	}
}
