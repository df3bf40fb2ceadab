package eval

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"choiros/internal/choir"
)

// TaskFile is the file that makes a folder a task.
const TaskFile = "task.toml"

// The folders of a task beside its TaskFile.
const (
	BaseFolder     = "base"     // the project before the run
	HiddenFolder   = "check"    // files put over the result before the check runs
	SolutionFolder = "solution" // files put over the base that solve it; for tests of the set only
)

// taskFile is the content of a TaskFile.
type taskFile struct {
	Prompt       string `toml:"prompt"`
	Check        string `toml:"check"`
	Language     string `toml:"language"`
	Clone        string `toml:"clone"`
	Commit       string `toml:"commit"`
	Seconds      int    `toml:"seconds"`
	CheckSeconds int    `toml:"check_seconds"`
}

// Load reads a set of tasks in order of their names: a folder of tasks, the folder of one task, or a file
// with published instances (.jsonl), whose repositories are below repos. Code not_found: there is none.
func Load(path, repos string) ([]Task, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, choir.Refuse("eval.load", choir.ReasonEvalTasksUnreadable, choir.TextOf("why", err))
	}
	if !info.IsDir() {
		return readInstances(path, repos)
	}
	if _, err := os.Stat(filepath.Join(path, TaskFile)); err == nil {
		t, err := readTask(path)
		return []Task{t}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, choir.Wrap("eval.load", choir.CodeUnavailable, err, "list the tasks")
	}
	var all []Task
	for _, e := range entries {
		t, err := readTask(filepath.Join(path, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // no task
		}
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, choir.Refuse("eval.load", choir.ReasonEvalNoTasks, choir.TextOf("path", path), choir.TextOf("file", TaskFile))
	}
	return all, nil
}

// readTask reads the task in a folder. fs.ErrNotExist: the folder has no TaskFile.
func readTask(dir string) (Task, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Task{}, err
	}
	file := filepath.Join(dir, TaskFile)
	raw, err := os.ReadFile(file)
	if err != nil {
		if strings.Contains(err.Error(), "not a directory") {
			err = fs.ErrNotExist
		}
		return Task{}, err
	}
	var f taskFile
	dec := toml.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Task{}, choir.Wrap("eval.load", choir.CodeInvalid, err, "read %s", file)
	}
	t := Task{
		Name: filepath.Base(dir), Language: f.Language, Prompt: strings.TrimSpace(f.Prompt), Check: f.Check,
		Limit: seconds(f.Seconds, DefaultLimit), CheckLimit: seconds(f.CheckSeconds, DefaultCheckLimit),
		Hidden: func(Tree) (Tree, error) { return readOptional(filepath.Join(dir, HiddenFolder)) },
	}
	if f.Clone != "" {
		if f.Commit == "" {
			return t, choir.RefuseField("commit", choir.ReasonEvalNoCommit, choir.TextOf("name", t.Name))
		}
		t.Clone = &Clone{Path: f.Clone, Commit: f.Commit}
		if !filepath.IsAbs(f.Clone) {
			t.Clone.Path = filepath.Join(dir, f.Clone)
		}
	} else {
		t.Base = func() (Tree, error) { return ReadTree(filepath.Join(dir, BaseFolder)) }
	}
	return t, checkTask(&t)
}

// seconds returns n seconds, or other for 0.
func seconds(n int, other time.Duration) time.Duration {
	return cmp.Or(time.Duration(n)*time.Second, other)
}

// readOptional reads the files below a folder; none if there is no such folder.
func readOptional(dir string) (Tree, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return Tree{}, nil
	}
	return ReadTree(dir)
}

// Solution returns the base of a task of a folder with its solution put over it.
func Solution(dir string) (Tree, error) {
	base, err := ReadTree(filepath.Join(dir, BaseFolder))
	if err != nil {
		return nil, err
	}
	over, err := ReadTree(filepath.Join(dir, SolutionFolder))
	return base.Over(over), err
}
