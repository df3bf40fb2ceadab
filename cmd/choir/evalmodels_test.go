package main

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// TestEvalUsesTheModelsOfThePage gives an evaluation a model that the owner connected on the shell's page, with
// its key, and finds the owner's keys as they were, also a key that no model names yet.
func TestEvalUsesTheModelsOfThePage(t *testing.T) {
	m := newMachine(t, "")
	a := newApp()
	a.data = m.data
	page := "director = 'page/a'\nassociate = 'page/b'\n[[provider]]\nname = 'page'\nkind = 'anthropic'\nbase_url = 'http://127.0.0.1:9'\nfree = true\n"
	if err := os.WriteFile(filepath.Join(m.data, config.ConnectedFile), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"page", "being-connected"} {
		if err := a.keys().Put(t.Context(), name, "sk-"+name); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.newEvaluation(evalOptions{dir: filepath.Dir(m.data)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.open(t.Context(), "task", "task")
	if err != nil {
		t.Fatal(err)
	}
	if c.models.Director != "page/a" || c.models.Associate != "page/b" || e.models != "Director page/a, Associate page/b" {
		t.Errorf("the models are %+v, told as %s", c.models, e.models)
	}
	key, err := c.app.keySource(config.Provider{Name: "page", Kept: true})(t.Context())
	if err != nil || key != "sk-page" {
		t.Errorf("the key is %q, %v", key, err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	if err := e.close(); err != nil {
		t.Error(err)
	}
	if names, err := a.keys().Names(t.Context()); err != nil || len(names) != 2 {
		t.Errorf("the owner's keys are %v, %v", names, err)
	}
}

// TestEvalWithoutAModelSaysSo: each task would fail for the same reason.
func TestEvalWithoutAModelSaysSo(t *testing.T) {
	m := newMachine(t, "")
	s := newEvalSet(t, m)
	s.add("any", "prompt = 'x'\ncheck = 'false'\n", map[string]string{"a": "a\n"})
	m.refuses(t, 5, choir.CodeUnavailable, "no model is connected", "eval", s.dir, "--dir", s.temp)
	s.nothingLeft()
	m.refuses(t, 1, choir.CodeNotFound, "cannot read the recording", "eval", s.dir, "--dir", s.temp, "--model-recording", t.TempDir())
	s.nothingLeft()
}
