// Package runscript reads scripted runs for tests: a prompt, the models' answers, the
// user's reactions and the expected outcome. One file serves two forms of test: the unit
// form answers tasks with the results in the file, and the whole form lets the real
// Associate work on the workspace in the file.
package runscript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Script is one scripted run.
type Script struct {
	Name  string `json:"-"` // the file's, without folder and extension
	About string `json:"about"`
	// Prompt starts the run.
	Prompt choir.PromptSubmitted `json:"prompt"`
	// Workspace are the files below the workspace root, for the whole form. Each project
	// under workspace/ becomes a git repository.
	Workspace []File `json:"workspace,omitempty"`
	// Limits are those of the run; zero fields have the defaults.
	Limits choir.RunLimits `json:"limits,omitzero"`
	// Model is a script of package wiretest for both roles.
	Model json.RawMessage `json:"model"`
	// Results are the unit form's answers to tasks: by step, one for each try. Result
	// fills in the fields that are the same in every result.
	Results map[string][]json.RawMessage `json:"associate_results,omitempty"`
	// Looks are the unit form's answers to looks at the workspace.
	Looks []Look `json:"looks,omitempty"`
	// User are the person's reactions.
	User   []Reaction `json:"user,omitempty"`
	Expect Expect     `json:"expect"`
}

// File is one file of the workspace.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Exec    bool   `json:"exec,omitempty"`
}

// Look is the answer to looking at a path, before the run or after a task.
type Look struct {
	What    choir.LookWhat `json:"what"`
	Path    string         `json:"path"`
	After   bool           `json:"after,omitempty"` // after a task
	Text    string         `json:"text,omitempty"`
	Refused string         `json:"refused,omitempty"` // why there is no text
}

// AnswerLook returns the answer to a request.
func (s Script) AnswerLook(r choir.LookRequest) (choir.LookReply, error) {
	for _, l := range s.Looks {
		if l.What != r.What || l.Path != r.Path || l.After != (r.Task != "") {
			continue
		}
		if l.Refused != "" {
			return choir.LookReply{}, choir.Invalid("path", "%s", l.Refused)
		}
		return choir.LookReply{Text: l.Text}, nil
	}
	return choir.LookReply{}, choir.E("runscript.look", choir.CodeInternal, "the script does not know the look %+v", r)
}

// Reaction is an action of the person, once, after the nth event of a type.
type Reaction struct {
	After  choir.Type `json:"after"`
	Nth    int        `json:"nth,omitempty"` // from 1; default 1
	Answer string     `json:"answer,omitempty"`
	Steer  string     `json:"steer,omitempty"`
	Cancel bool       `json:"cancel,omitempty"`
}

// Expect is the expected outcome of the run in both forms.
type Expect struct {
	Outcome choir.Outcome `json:"outcome"`
	Code    choir.Code    `json:"code,omitempty"`
	Answer  string        `json:"answer"` // the answer contains it
	// Events are the types of the run's events in order, without the types that differ
	// between the forms: see Told.
	Events []choir.Type `json:"events"`
	// Document are texts that the last version of the document contains; without any the
	// run has no document.
	Document []string `json:"document,omitempty"`
	// Files are contents of files after the run, for the whole form.
	Files []File `json:"files,omitempty"`
}

// Load reads every script of a folder, ordered by name.
func Load(dir string) ([]Script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, choir.Wrap("runscript.load", choir.CodeInvalid, err, "list %s", dir)
	}
	var out []Script
	for _, path := range paths {
		s, err := read(path)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// read reads one script. Code invalid: it is malformed or has an unknown field.
func read(path string) (s Script, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, choir.Wrap("runscript.load", choir.CodeNotFound, err, "read the script")
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, choir.Wrap("runscript.load", choir.CodeInvalid, err, "%s", path)
	}
	s.Name = strings.TrimSuffix(filepath.Base(path), ".json")
	return s, nil
}

// Repos returns the projects of the workspace, in the order of the files.
func (s *Script) Repos() []string {
	var names []string
	for _, f := range s.Workspace {
		parts := strings.SplitN(f.Path, "/", 3)
		if len(parts) == 3 && parts[0] == "workspace" && !slices.Contains(names, parts[1]) {
			names = append(names, parts[1])
		}
	}
	return names
}

// Told reports whether scripts list an event type: types that the Director and the
// person cause, and the results of tasks.
func Told(t choir.Type) bool {
	return slices.Contains([]choir.Type{
		choir.TypePromptSubmitted, choir.TypeSteeringSubmitted, choir.TypeRunCancelRequested, choir.TypeRunFinished, choir.TypePlanMade, choir.TypePlanChanged, choir.TypePlanRefused, choir.TypeDecisionRefused,
		choir.TypeTaskDispatched, choir.TypeTaskReturned, choir.TypeTaskJudged, choir.TypeQuestionAsked, choir.TypeQuestionAnswered, choir.TypeToastShown,
		choir.TypeDocumentCreated, choir.TypeOverlayAdded, choir.TypeBudgetReached,
	}, t)
}

// Result returns the unit form's answer to a task. try counts from 1. Code not_found:
// the script has no result for this try.
func (s *Script) Result(d choir.TaskDispatched, try int) (choir.AssociateResult, error) {
	var res choir.AssociateResult
	results := s.Results[d.Step]
	if try > len(results) {
		return res, choir.E("runscript.result", choir.CodeNotFound, "%s has no result for try %d of step %q", s.Name, try, d.Step)
	}
	if err := json.Unmarshal(results[try-1], &res); err != nil {
		return res, choir.Wrap("runscript.result", choir.CodeInvalid, err, "%s, step %q, try %d", s.Name, d.Step, try)
	}
	res.Version, res.TaskID, res.RunID = choir.ContractVersion, d.Task.TaskID, d.Task.RunID
	if res.Verify.Mode == "" {
		res.Verify = choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown}
	}
	return res, nil
}
