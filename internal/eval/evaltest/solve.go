// Package evaltest makes scripts of a model that solves tasks by their reference solutions, or claims to.
package evaltest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eval"
	"choiros/internal/model"
	"choiros/internal/model/wiretest"
)

// usage is the usage of each answer, so that sums can be foretold.
var usage = model.Usage{Input: 1000, Output: 100}

// CallsPerTask is how many model calls a task takes: two of the Director, three of the Associate.
const CallsPerTask = 5

// The inputs of the tools that the model calls.
type (
	pathInput struct {
		Path string `json:"path"`
	}
	writeInput struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	planInput struct {
		Goal  string      `json:"goal"`
		Steps []stepInput `json:"steps"`
	}
	stepInput struct {
		ID          string   `json:"id"`
		Title       string   `json:"title"`
		Kind        string   `json:"kind"`
		Instruction string   `json:"instruction"`
		Criteria    []string `json:"acceptance_criteria"`
	}
	judgeInput struct {
		Step     string           `json:"step"`
		Verdict  string           `json:"verdict"`
		Reason   string           `json:"reason"`
		Criteria []criterionInput `json:"criteria"`
	}
	criterionInput struct {
		Criterion string     `json:"criterion"`
		Met       bool       `json:"met"`
		ShownBy   shownInput `json:"shown_by"`
	}
	shownInput struct {
		Kind   string `json:"kind"`
		Number int    `json:"number"`
	}
	answerInput struct {
		Text string `json:"text"`
	}
)

// call returns a tool call of a script.
func call(tool string, input any) (wiretest.Call, error) {
	raw, err := json.Marshal(input)
	return wiretest.Call{Name: tool, Input: raw}, err
}

// Solve returns the rules of a model that plans one step for a task, reads and writes the files of write in it,
// and says that all is done and verified.
func Solve(t eval.Task, write eval.Tree) ([]wiretest.Rule, error) {
	base, err := t.Base()
	if err != nil {
		return nil, err
	}
	mark := "Task " + t.Name + "."
	paths := slices.Sorted(maps.Keys(write))
	var failed error
	use := func(tool string, input any) wiretest.Call {
		c, err := call(tool, input)
		if err != nil {
			failed = err
		}
		return c
	}
	reads := []wiretest.Call{use("list_files", pathInput{"."})}
	var writes []wiretest.Call
	for _, path := range paths {
		if _, ok := base[path]; ok {
			reads = append(reads, use("read_file", pathInput{path}))
		}
		writes = append(writes, use("write_file", writeInput{path, string(write[path].Content)}))
	}
	plan := use("submit_plan", planInput{"What was asked is done.", []stepInput{{
		"change", "Make the change", "edit_repo", mark + "\n" + t.Prompt, []string{"the tests of the project pass"},
	}}})
	judge := use("judge_result", judgeInput{"change", "accept", "The check passed.", []criterionInput{{"c1", true, shownInput{"check", 1}}}})
	answer := use("answer", answerInput{"It is done, and the tests pass."})
	first := t.Prompt[:min(60, len(t.Prompt))]
	rule := func(caller, first string, turn int, text string, calls ...wiretest.Call) wiretest.Rule {
		return wiretest.Rule{
			Name: t.Name, Match: wiretest.Match{Caller: caller, First: first, Turn: turn},
			Respond: &wiretest.Respond{Usage: usage, Text: text, ToolCalls: calls},
		}
	}
	return []wiretest.Rule{
		rule("director", first, 1, "", plan),
		rule("director", first, 2, "", judge, answer),
		rule("associate", mark, 1, "I look first.", reads...),
		rule("associate", mark, 2, "", writes...),
		rule("associate", mark, 0, "I changed "+strings.Join(paths, ", ")+"; the tests pass."),
	}, failed
}

// SolveAll returns the script of a model that solves all tasks of a folder by their reference solutions.
func SolveAll(dir string) (wiretest.Script, error) {
	var s wiretest.Script
	tasks, err := eval.Load(dir, "")
	if err != nil {
		return s, err
	}
	for _, t := range tasks {
		solution, err := eval.ReadTree(filepath.Join(dir, t.Name, eval.SolutionFolder))
		if err == nil && t.Base == nil {
			err = choir.E("evaltest", choir.CodeInvalid, "task %s has no base folder", t.Name)
		}
		if err != nil {
			return s, err
		}
		rules, err := Solve(t, solution)
		if err != nil {
			return s, err
		}
		s.Rules = append(s.Rules, rules...)
	}
	return s, nil
}

// IsSet reports whether a path is a folder, and so may be a set of tasks.
func IsSet(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
