package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestThisModuleKeepsTheRules(t *testing.T) {
	found, err := check("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

func TestPlantedViolationsAreFoundWithTheirReasons(t *testing.T) {
	found, err := check("testdata/planted")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		if v.why == "" {
			t.Errorf("%s has no reason", v)
		}
		got = append(got, v.pkg+" "+v.does)
	}
	want := []string{
		"./bench imports ./internal/sandbox/fake",
		"./cmd/choir-director imports ./internal/journal",
		"./internal/agentloop imports ./internal/blob",
		"./internal/associate/scope imports ./internal/bus",
		"./internal/blob imports ./internal/blob/fs",
		"./internal/blob/fs imports ./internal/blob/s3",
		"./internal/bus/cluster imports ./internal/blob",
		"./internal/choir imports os",
		"./internal/choir uses os.Getenv at choir.go:13",
		"./internal/choir uses time.Now at choir.go:10",
		"./internal/computer imports ./internal/blob/s3",
		"./internal/computer uses ./internal/eventstore.OpenPlain at computer.go:9",
		"./internal/computer/collection imports ./internal/sandbox",
		"./internal/computer/copies imports ./internal/sandbox",
		"./internal/computer/desk imports ./internal/bus",
		"./internal/computer/desk imports ./internal/guest",
		"./internal/computer/desk imports ./internal/sandbox",
		"./internal/computer/desk imports ./internal/snapshot",
		"./internal/computer/desk/drafts imports ./internal/bus",
		"./internal/computer/dispatch imports ./internal/guest",
		"./internal/computer/dispatch imports ./internal/snapshot",
		"./internal/computer/guestblobs imports ./internal/guest",
		"./internal/computer/moments imports ./internal/sandbox",
		"./internal/computer/origin imports ./internal/guest",
		"./internal/computer/projects imports ./internal/sandbox",
		"./internal/computer/reconcile imports ./internal/sandbox",
		"./internal/computer/rewind imports ./internal/sandbox",
		"./internal/computer/rolehost imports ./internal/bus/hub",
		"./internal/computer/rolehost imports ./internal/computer",
		"./internal/computer/runs imports ./internal/snapshot",
		"./internal/computer/selfsource imports ./internal/computer/runs",
		"./internal/computer/selfsource imports ./internal/sandbox",
		"./internal/computer/session imports ./internal/snapshot",
		"./internal/computer/tasks imports ./internal/computer/runs",
		"./internal/computer/treemerge imports ./internal/computer/runs",
		"./internal/computer/verbs imports ./internal/computer/runs",
		"./internal/computer/verification imports ./internal/bus",
		"./internal/computer/workspace imports ./internal/bus",
		"./internal/computer/workspace imports ./internal/computer/desk/drafts",
		"./internal/computer/workspace imports ./internal/sandbox",
		"./internal/control/api imports ./internal/blob",
		"./internal/control/api imports ./internal/computer",
		"./internal/director imports ./internal/associate",
		"./internal/director/conductor uses math/rand/v2.IntN at conductor.go:7",
		"./internal/eventstore imports github.com/prometheus/client_golang/prometheus",
		"./internal/eventstore imports go.opentelemetry.io/otel/trace",
		"./internal/keyfile imports ./internal/choir",
		"./internal/sandbox/sandboxtest imports ./internal/blob/mem",
		"./internal/timeline imports ./internal/computer",
	}
	slices.Sort(got)
	// The contract that imports its implementation also wires.
	got = slices.Compact(got)
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEveryDriverOfASandboxIsKnown: a driver that the rules do not name is held to none of theirs.
func TestEveryDriverOfASandboxIsKnown(t *testing.T) {
	drivers, err := filepath.Glob("../../internal/sandbox/*/driver.go")
	if err != nil || len(drivers) < 5 {
		t.Fatal(drivers, err)
	}
	for _, path := range drivers {
		if name := filepath.Base(filepath.Dir(path)); !slices.Contains(implementations["./internal/sandbox"], name) {
			t.Errorf("internal/sandbox/%s is a driver, and tools/imports/rules.go does not name it in implementations", name)
		}
	}
}
