package bench

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var comparison = regexp.MustCompile(`(<=|>=|within) ([\d.]+)(x| ms| s)?`)

// TestTargetsEqualAnchors holds the table against the lines of ANCHORS, both
// ways.
func TestTargetsEqualAnchors(t *testing.T) {
	raw, err := os.ReadFile("testdata/anchors.md")
	if err != nil {
		t.Fatal(err)
	}
	anchors := targetCells(string(raw))
	for _, target := range targets {
		cell, ok := anchors[target.Bench]
		if !ok || !strings.Contains(cell, target.Anchor) {
			t.Errorf("%s %q: ANCHORS does not say %q", target.Bench, target.Case, target.Anchor)
			continue
		}
		op, value := anchorNumber(t, target.Anchor)
		if op != target.Op || value != target.Value {
			t.Errorf("%s %q: the table says %s %v, ANCHORS %q", target.Bench, target.Case, target.Op, target.Value, target.Anchor)
		}
	}
	rest := string(raw)
	for _, target := range targets {
		rest = strings.Replace(rest, target.Anchor, "", 1)
	}
	if left := comparison.FindString(rest); left != "" {
		t.Errorf("ANCHORS says %q, and no target stands for it", left)
	}
}

// targetCells gives the last cells of the lines that have a name in their second.
func targetCells(table string) map[string]string {
	cells := map[string]string{}
	names := regexp.MustCompile("`([a-z-]+)`")
	for line := range strings.Lines(table) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) != 4 {
			continue
		}
		for _, name := range names.FindAllStringSubmatch(parts[1], -1) {
			cells[name[1]] += parts[3] + "\n"
		}
	}
	return cells
}

// anchorNumber reads a sentence of ANCHORS; times come out in milliseconds.
func anchorNumber(t *testing.T, anchor string) (op string, value float64) {
	t.Helper()
	if strings.HasPrefix(anchor, "0 failures") || strings.Contains(anchor, " without ") {
		return "<=", 0
	}
	found := comparison.FindStringSubmatch(anchor)
	if found == nil {
		t.Fatalf("%q compares nothing", anchor)
	}
	value, err := strconv.ParseFloat(found[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	if found[3] == " s" {
		value *= 1000
	}
	return strings.Replace(found[1], "within", "<=", 1), value
}

func TestEveryTargetIsOfABenchmark(t *testing.T) {
	names := map[string]bool{}
	for _, name := range Names() {
		names[name] = true
	}
	for _, target := range targets {
		if !names[target.Bench] {
			t.Errorf("nothing measures %s %q", target.Bench, target.Case)
		}
	}
}

func TestOneOfTwoAlternativesIsEnough(t *testing.T) {
	for _, c := range []struct {
		name              string
		missed, met, left []string
	}{
		{"the floor is met", []string{"one task"}, []string{"one task, above its floor"}, nil},
		{"the peer is met", []string{"one task, above its floor"}, []string{"one task"}, nil},
		{"both are missed", []string{"one task", "one task, above its floor"}, []string{"flow of three"}, []string{"one task", "one task, above its floor"}},
		{"another case is met", []string{"flow of three"}, []string{"one task, above its floor"}, []string{"flow of three"}},
	} {
		if left := stillMissed("task", c.missed, c.met); !slices.Equal(left, c.left) {
			t.Errorf("%s: %q", c.name, left)
		}
	}
	if left := stillMissed("append", []string{"one task"}, []string{"one task, above its floor"}); len(left) != 1 {
		t.Errorf("the alternatives of another benchmark count: %q", left)
	}
	for _, a := range alternatives {
		for _, name := range []string{a.either, a.or} {
			if _, ok := findTarget(a.bench, name); !ok {
				t.Errorf("%s %q has no target", a.bench, name)
			}
		}
	}
}
