package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checker looks at a data folder whose choir has stopped.
type checker struct {
	data   string // the data folder
	dir    string // the computer's
	acks   []reply
	events []event
	wrong  []string

	noGit   bool     // the workspace was damaged, or not synced
	noBlobs bool     // blobs were damaged
	must    []string // what some event has to say
}

func (c *checker) errorf(format string, args ...any) {
	if len(c.wrong) < 12 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// check gives everything that is wrong.
func (c *checker) check() []string {
	dirs, err := filepath.Glob(filepath.Join(c.data, "computers", "*"))
	if err != nil || len(dirs) == 0 {
		return []string{fmt.Sprintf("no computer in %s", c.data)}
	}
	// Ids begin with their time, so the first is the one that the driver uses.
	c.dir = dirs[0]
	c.computer()
	c.workspace()
	c.forks(dirs)
	if !c.noGit && slices.ContainsFunc(c.events, func(e event) bool { return e.Type == "repo.added" }) {
		c.git()
	}
	return c.wrong
}

// forks checks the other computers: the acknowledged ones are there, and each has a
// whole log of its own.
func (c *checker) forks(dirs []string) {
	for _, a := range c.acks {
		if a.Forked != "" && !slices.Contains(dirs, filepath.Join(c.data, "computers", a.Forked)) {
			c.errorf("acknowledged fork %s is lost", a.Forked)
		}
	}
	for _, dir := range dirs[1:] {
		other := &checker{data: c.data, dir: dir, noBlobs: c.noBlobs}
		other.computer()
		for _, w := range other.wrong {
			c.errorf("fork %s: %s", filepath.Base(dir), w)
		}
		at := slices.IndexFunc(other.events, func(e event) bool { return e.Type == "computer.forked" || e.Type == "computer.imported" })
		if at < 1 {
			c.errorf("fork %s does not say where it begins", filepath.Base(dir))
			continue
		}
		if at > len(c.events) || other.events[at-1].Hash != c.events[at-1].Hash {
			c.errorf("fork %s has another past", filepath.Base(dir))
		}
	}
}

// computer looks at one computer's log, and at what the log leads to.
func (c *checker) computer() {
	var wrong []string
	c.events, wrong = readJournal(filepath.Join(c.dir, "journal"))
	for _, w := range wrong {
		c.errorf("journal: %s", w)
	}
	for _, word := range c.must {
		if !slices.ContainsFunc(c.events, func(e event) bool { return strings.Contains(string(e.raw), `"`+word+`"`) }) {
			c.errorf("no event says %s", word)
		}
	}
	c.acknowledged()
	c.copies()
	c.once()
	c.projections()
	c.derived()
	c.snapshots()
	if !c.noBlobs {
		c.blobs()
	}
}

// acknowledged holds the replies against the log.
func (c *checker) acknowledged() {
	tasks := map[string]string{}
	for _, e := range c.events {
		if e.Type == "task.returned" {
			tasks[e.Task] = e.resultStatus()
		}
	}
	given := map[uint64]string{}
	for _, a := range c.acks {
		if first := given[a.Seq]; a.Mark != "" && first != "" && first != a.Mark {
			c.errorf("number %d was acknowledged twice: for %q and for %q", a.Seq, first, a.Mark)
		}
		if a.Mark != "" {
			given[a.Seq] = a.Mark
		}
		if a.Seq > uint64(len(c.events)) {
			c.errorf("acknowledged event %d (%s %s) is lost: the log ends at %d", a.Seq, a.Verb, a.Key, len(c.events))
			return
		}
		if a.Seq > 0 && a.Hash != "" && c.events[a.Seq-1].Hash != a.Hash {
			c.errorf("event %d is not the one that was acknowledged", a.Seq)
		}
		if a.Seq > 0 && !bytes.Contains(c.events[a.Seq-1].raw, []byte(a.Mark)) {
			c.errorf("acknowledged event %d (%s %s) is lost: another has its number", a.Seq, a.Verb, a.Key)
		}
		if a.Task != "" && a.Status != "" && tasks[a.Task] != a.Status {
			c.errorf("task %s was answered %s, the log says %q", a.Key, a.Status, tasks[a.Task])
		}
	}
}

func (e event) resultStatus() string {
	var p struct {
		Result struct {
			Status string `json:"status"`
		} `json:"result"`
	}
	// Without a status it is not what was acknowledged.
	_ = json.Unmarshal(e.Payload, &p)
	return p.Result.Status
}

// sqlite asks the sqlite3 shell; rows are lines.
func (c *checker) sqlite(query string) []string {
	out, err := exec.Command("sqlite3", "-batch", "-newline", "\x1e", filepath.Join(c.dir, "store.sqlite"), query).CombinedOutput()
	if err != nil {
		c.errorf("sqlite3: %v: %s", err, out)
		return nil
	}
	rows := strings.Split(strings.TrimSuffix(string(out), "\x1e"), "\x1e")
	if len(rows) == 1 && rows[0] == "" {
		return nil
	}
	return rows
}

// copies holds the SQLite copy against the journal, byte by byte.
func (c *checker) copies() {
	if said := c.sqlite("PRAGMA integrity_check"); len(said) != 1 || said[0] != "ok" {
		c.errorf("SQLite copy: %q", said)
	}
	rows := c.sqlite("SELECT event FROM events ORDER BY seq")
	if len(rows) != len(c.events) {
		c.errorf("the journal has %d events, the SQLite copy %d", len(c.events), len(rows))
	}
	for i := range min(len(rows), len(c.events)) {
		if rows[i] != string(c.events[i].raw) {
			c.errorf("event %d differs between the copies", i+1)
			return
		}
	}
}

// once looks for effects that are there twice.
func (c *checker) once() {
	seen := map[string]uint64{}
	for _, e := range c.events {
		keys := []string{"event " + e.ID}
		switch e.Type {
		case "task.returned", "task.dispatched":
			keys = append(keys, e.Type+" "+e.Task)
		case "run.finished":
			keys = append(keys, e.Type+" "+e.Run)
		case "checkpoint.created":
			if e.Task != "" {
				keys = append(keys, e.Type+" "+e.Task)
			}
		case "prompt.submitted":
			var p struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(e.Payload, &p) == nil && strings.HasPrefix(p.Text, "prompt ") {
				keys = append(keys, "prompt.submitted "+p.Text)
			}
		case "tool.called":
			var p struct {
				Call string `json:"call"`
			}
			if json.Unmarshal(e.Payload, &p) == nil {
				keys = append(keys, "tool.called "+p.Call)
			}
		}
		for _, k := range keys {
			if first, ok := seen[k]; ok {
				c.errorf("%.80s is there twice: %d and %d", k, first, e.Seq)
			}
			seen[k] = e.Seq
		}
	}
}

// projections derives a few from the events anew.
func (c *checker) projections() {
	want := map[string][]string{}
	states := map[string]string{}
	for _, e := range c.events {
		switch e.Type {
		case "prompt.submitted":
			states[e.Run] = "open"
		case "run.finished":
			states[e.Run] = "ended"
		case "checkpoint.created":
			want["checkpoints"] = append(want["checkpoints"], fmt.Sprint(e.Seq))
		case "task.dispatched":
			want["tasks"] = append(want["tasks"], e.Task)
		}
	}
	for run, state := range states {
		want["runs"] = append(want["runs"], run+"|"+state)
	}
	for table, query := range map[string]string{
		"checkpoints": "SELECT seq FROM checkpoints", "tasks": "SELECT key FROM tasks",
		"runs": "SELECT key, iif(state IN ('done','failed','cancelled'),'ended','open') FROM runs",
	} {
		got := c.sqlite(query)
		slices.Sort(got)
		slices.Sort(want[table])
		if !slices.Equal(got, want[table]) {
			c.errorf("projection %s has %d rows that the events do not give, or lacks some of %d", table, len(got), len(want[table]))
		}
	}
}

// snapshots looks for each known one in the event it came with.
func (c *checker) snapshots() {
	for _, line := range c.sqlite("SELECT seq || ' ' || json_extract(value, '$.snapshot') FROM snapshots") {
		var seq int
		var digest string
		if n, err := fmt.Sscan(line, &seq, &digest); n != 2 || seq > len(c.events) || !strings.Contains(string(c.events[seq-1].raw), digest) {
			c.errorf("snapshot %s is not of its event: %v", line, err)
		}
	}
}

// fileState is a file as the log knows it.
type fileState struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
}

// workspace holds the files against the log, so that no difference is silent.
func (c *checker) workspace() {
	known := map[string]fileState{}
	for _, row := range c.sqlite("SELECT value FROM files WHERE to_seq = 9007199254740991") {
		var f fileState
		if err := json.Unmarshal([]byte(row), &f); err != nil {
			c.errorf("files: %v", err)
			return
		}
		known[f.Path] = f
	}
	root := filepath.Join(c.dir, "associate", "workspace")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		f, ok := known[name]
		delete(known, name)
		if !ok {
			c.errorf("file %s is not in the log", name)
		} else if d.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != f.Digest {
				c.errorf("file %s is not what the log says", name)
			}
		}
		return nil
	})
	if err != nil {
		c.errorf("workspace: %v", err)
	}
	for name := range known {
		c.errorf("file %s of the log is not there", name)
	}
	c.lines("task", filepath.Join(root, "workspace", "work", "lines.txt"))
	c.lines("beside", filepath.Join(root, "workspace", "beside", "lines.txt"))
}

// lines holds the work of the driver's tasks of one verb against their answers: done once,
// or not at all.
func (c *checker) lines(verb, path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return // a row without tasks
	}
	count := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		count[strings.TrimSpace(line)]++
	}
	for line, n := range count {
		if n > 1 {
			c.errorf("task %s took effect %d times", line, n)
		}
	}
	if c.noGit || slices.ContainsFunc(c.acks, func(a reply) bool { return a.Verb == "rewind" }) {
		return // what was rewound is the workspace's test
	}
	undone := map[string]bool{}
	for _, a := range c.acks {
		undone[a.Undone] = true
	}
	for _, a := range c.acks {
		switch {
		case a.Verb == "undo" && a.Status == "conflict":
			c.errorf("task %s could not be taken back, and nobody had changed its files", a.Key)
		case a.Verb == verb && a.Status == "ok" && !undone[a.Key] && count[a.Key] != 1:
			c.errorf("task %s was answered ok and took effect %d times", a.Key, count[a.Key])
		case undone[a.Key] && a.Verb == verb && count[a.Key] != 0:
			c.errorf("task %s was taken back and is still there", a.Key)
		}
	}
}

// git holds the repository against the log.
func (c *checker) git() {
	repo := filepath.Join(c.dir, "associate", "workspace", "workspace", "work")
	run := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", repo}, args...)...).CombinedOutput()
		if err != nil {
			c.errorf("git %s: %v: %.200s", args[0], err, out)
		}
		return string(out)
	}
	run("fsck", "--no-dangling", "--no-progress")
	seen := map[string]bool{}
	for _, task := range strings.Fields(run("log", "--format=%(trailers:key=Choir-Task,valueonly)")) {
		if seen[task] {
			c.errorf("task %s has two commits", task)
		}
		seen[task] = true
	}
	if slices.ContainsFunc(c.events, func(e event) bool { return strings.HasPrefix(e.Type, "timeline.") }) {
		return // a step back takes the repository back too
	}
	for _, e := range c.events {
		var p struct {
			Commits []struct{ Commit string } `json:"commits"`
		}
		if e.Type != "checkpoint.created" || json.Unmarshal(e.Payload, &p) != nil {
			continue
		}
		for _, made := range p.Commits {
			run("cat-file", "-e", made.Commit)
		}
	}
}
