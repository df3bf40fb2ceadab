package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tooAlike is the share of lines that two files must have in common to be the
// same thing written twice.
const tooAlike = 0.9

// page is the code of one page: the lines of each file by its path, without
// empty ones and indentation.
func page(t *testing.T, folder string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".ts", ".tsx", ".css"}, filepath.Ext(path)) {
			return err
		}
		raw, err := os.ReadFile(path)
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); line != "" {
				out[path] = append(out[path], line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alike is the share of lines that two files have in common, wherever they stand.
func alike(a, b []string) float64 {
	count := map[string]int{}
	for _, line := range a {
		count[line]++
	}
	common := 0
	for _, line := range b {
		if count[line] > 0 {
			count[line]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// What both pages need is in ui/base, once.
func TestNothingIsWrittenInBothPages(t *testing.T) {
	shell := page(t, filepath.Join(repository, "ui/shell/src"))
	desktop := page(t, filepath.Join(repository, "ui/desktop/src"))
	if len(shell) < 50 || len(desktop) < 50 {
		t.Fatalf("there are %d and %d files of the pages: are they elsewhere?", len(shell), len(desktop))
	}
	for one, ours := range shell {
		for other, theirs := range desktop {
			if share := alike(ours, theirs); share > tooAlike {
				t.Errorf("%s and %s have %.0f %% of their lines in common: put what both need into ui/base", one, other, 100*share)
			}
		}
	}
}

func TestWhatCountsAsWrittenTwice(t *testing.T) {
	lines := func(text string) []string { return strings.Fields(text) }
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":            {"a b c", "a b c", true},
		"in another order":    {"a b c", "c a b", true},
		"one line of twenty":  {"a b c d e f g h i j k l m n o p q r s t", "a b c d e f g h i j k l m n o p q r s X", true},
		"one line of three":   {"a b c", "a b X", false},
		"a part of the other": {"a b c", "a b c d e f", false},
		"braces only":         {"{ } { } x", "{ } { } y z", false},
	} {
		if got := alike(lines(c.a), lines(c.b)) > tooAlike; got != c.want {
			t.Errorf("%s: counted as written twice is %t", name, got)
		}
	}
}
