package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// driving is text that sets a terminal's title, clears it, colours what follows,
// goes back to the start of the line and reverses the order of letters.
const driving = "\x1b]0;T\x07\x1b[2J\x1b[31mFAKE\rX\u009b31m\u202e\u2066\x7fY"

// TestWordsOfStrangersNeverDriveATerminal gives files, branches, commits, titles,
// computers, answers and output names that drive a terminal, and prints them with
// every verb, for people and as JSON.
func TestWordsOfStrangersNeverDriveATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	m.up().healthy()
	c := m.client()
	before := c.log(t)
	shell := fmt.Sprintf("mkdir -p workspace/odd && cd workspace/odd && n=%s && : >\"$n\" && git init -q -b main . && git config user.name \"$n\" && git config user.email x@x && git add -A && git commit -qm \"$n\" && printf %%s \"$n\"; printf %%s \"$n\" >&2", inBash(driving))
	said := m.runWith(fmt.Sprintf(`{"kind":"edit_repo","instruction":"Do it.","commands":[{"shell":%q}],"verify_profile":{"mode":"none"}}`, shell), "task", "-")
	if said.code != 0 {
		t.Fatalf("the task: %d %s%s", said.code, said.out, said.errOut)
	}
	plain(t, "task", said)
	title := strings.NewReplacer("\x1b", "", "\x07", "", "\r", "", "\u009b", "", "\x7f", "").Replace(driving) // the door refuses control characters
	var doc struct{ ID, Document choir.ID }
	for _, name := range []string{driving, title} {
		if c.post(t.Context(), c.path("/documents"), map[string]string{"title": name, "content": driving}, &doc) == nil {
			break
		}
	}
	name := "workspace/" + driving
	if err := c.post(t.Context(), c.path("/folders"), api.FolderRequest{Path: name}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.post(t.Context(), c.path("/trash"), api.TrashRequest{Items: []api.TrashItem{{Path: name, IfMatch: "*"}}}, nil); err != nil {
		t.Fatal(err)
	}
	events := c.log(t)
	head := strconv.Itoa(len(events))
	task := events[slices.IndexFunc(events, func(e choir.Event) bool { return e.Type == "task.dispatched" })].Task
	source := repoOf(t, "plain", 3)
	file := filepath.Join(t.TempDir(), "whole.choir")
	from := strconv.Itoa(len(before))

	verbs := map[string][][]string{
		"log":        {{"log"}, {"log", "--verify"}},
		"timeline":   {{"timeline"}, {"timeline", "show", head}, {"timeline", "ls", head, "workspace/odd"}},
		"diff":       {{"diff", from}},
		"undo":       {{"undo", string(task), "--dry-run"}},
		"rewind":     {{"rewind", from, "--dry-run"}},
		"trash":      {{"trash"}, {"trash", "restore", driving}, {"trash", "drop", driving}},
		"run":        {{"run"}, {"run", driving}, {"run", "pause", driving}, {"run", "resume", driving}, {"run", "commands", driving}},
		"repo":       {{"repo", "list"}, {"repo", "add", source}, {"repo", "export", driving, "-o", file}},
		"checkpoint": {{"checkpoint"}},
		"computers":  {{"computers"}},
		"fork":       {{"fork", from, "--name", title}, {"computers"}},
		"take":       {{"take", "--from", driving}},
		"task":       {{"task", driving}},
		"prompt":     {{"prompt", "--repo", driving, driving}},
		"demo":       {{"demo", "--recording", driving}},
		"export":     {{"export", file}},
		"import":     {{"import", driving}},
		"image":      {{"image"}, {"image", "build", "--out", driving, "--packages", driving}},
		"doctor":     {{"doctor"}, {"doctor", "--report", filepath.Join(t.TempDir(), driving)}},
		"up":         {{"up", driving}},
		"bench":      {{"bench", driving}},
		"eval":       {{"eval", driving}, {"eval", source, "--against", driving}},
		"egress":     {{"egress"}, {"egress", "grant", driving}, {"egress", "deny", driving}, {"egress", "revoke", driving}, {"egress", "mode", driving}},
		"approvals":  {{"approvals"}, {"approvals", driving}},
		"approve":    {{"approve", driving}},
		"refuse":     {{"refuse", driving, "--because", driving}},
		"vault":      {{"vault", "list"}, {"vault", "set", driving, "--host", driving}, {"vault", "remove", driving}, {"vault", "rotate"}},
		"model":      {{"model"}, {"model", "test", driving}},
		"metrics":    {{"metrics"}, {"metrics", "token"}},
		"version":    {{"version"}},
		"help":       {{"help", driving}},
		"completion": {{"completion", driving}},
	}
	root := newRootCommand(newApp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, verb := range root.Commands() {
		if verbs[verb.Name()] == nil {
			t.Errorf("choir %s is not tried", verb.Name())
		}
	}
	shown := 0
	for _, name := range slices.Sorted(maps.Keys(verbs)) {
		for _, args := range verbs[name] {
			for _, form := range [][]string{args, append(slices.Clone(args), "--json")} {
				r := m.run(form...)
				plain(t, strings.Join(form, " "), r)
				if strings.Contains(r.out+r.errOut, "FAKE") {
					shown++
				}
			}
		}
	}
	if shown < 12 {
		t.Errorf("only %d commands printed the words at all", shown)
	}
}

// inBash quotes each byte of s for bash.
func inBash(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return "$'" + b.String() + "'"
}

// plain fails when something was printed that a terminal may act on.
func plain(t *testing.T, command string, r ran) {
	t.Helper()
	for _, text := range []string{r.out, r.errOut} {
		for i, b := range []rune(text) {
			if b != '\n' && b != '\t' && (unicode.IsControl(b) || unicode.Is(unicode.Bidi_Control, b)) {
				t.Errorf("choir %q printed %q", command, text[:min(len(text), i+40)])
				return
			}
		}
	}
}
