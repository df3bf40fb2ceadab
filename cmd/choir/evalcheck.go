package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
	"choiros/internal/eval"
)

// checkResult is the result of a hidden check.
type checkResult struct {
	passed bool
	said   string // the end of its output
}

// checker returns the computer in which checks run. No task works in it.
func (e *evaluation) checker(ctx context.Context) (*evalComputer, error) {
	if e.checks != nil {
		return e.checks, nil
	}
	c, err := e.open(ctx, "checks", "")
	e.checks = c
	return c, err
}

// check runs the hidden check of a task on a project in the sandbox of the checks, without a network.
func (e *evaluation) check(ctx context.Context, t eval.Task, project eval.Tree) (checkResult, error) {
	c, err := e.checker(ctx)
	if err != nil {
		return checkResult{}, err
	}
	if err := c.add(ctx, t.Name, project); err != nil {
		return checkResult{}, err
	}
	limit := wholeSeconds(t.CheckLimit)
	result, err := c.do(ctx, choir.DirectorTask{
		Kind: choir.TaskRun, Instruction: "Run the hidden check.", Repo: t.Name, TimeBudgetS: limit + 30,
		Commands:      []choir.Command{{Argv: []string{"sh", "-c", t.Check}, TimeoutS: limit}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
		EgressProfile: &choir.EgressProfile{Mode: choir.EgressNone},
	})
	if err != nil {
		return checkResult{}, err
	}
	if len(result.CommandsRun) == 0 {
		return checkResult{}, choir.Refuse("", choir.ReasonEvalCheckFailed, choir.TextOf("why", result.Summary))
	}
	ran := result.CommandsRun[0]
	out := checkResult{passed: ran.ExitCode == 0 && ran.Signal == "" && result.Status == choir.StatusOK}
	if !out.passed {
		out.said = strings.TrimSpace(fmt.Sprintf("exit code %d %s\n%s", ran.ExitCode, ran.Signal, strings.TrimSpace(ran.StdoutTail+"\n"+ran.StderrTail)))
	}
	return out, nil
}

// do submits a task and waits for its result, for no longer than its time and a minute.
func (c *evalComputer) do(ctx context.Context, t choir.DirectorTask) (*choir.AssociateResult, error) {
	raw, err := json.Marshal(struct {
		choir.DirectorTask
		// A person may leave these out, and empty they are refused.
		Version int       `json:"version,omitempty"`
		TaskID  *choir.ID `json:"task_id,omitempty"`
		RunID   *choir.ID `json:"run_id,omitempty"`
	}{DirectorTask: t})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(t.TimeBudgetS)*time.Second+time.Minute)
	defer cancel()
	result, err := c.client.task(limited, raw, nil)
	if err == nil && result == nil {
		err = choir.E("", choir.CodeInternal, "a task of the evaluation got no result")
	}
	return result, err
}

// wholeSeconds returns a duration in seconds, rounded up.
func wholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// maxProject is the maximum size of a project from a clone, in bytes.
const maxProject = 1 << 30

// baseOf returns the project of a task before the run. why says what keeps it from being read.
func (e *evaluation) baseOf(ctx context.Context, t eval.Task) (base eval.Tree, why string, err error) {
	if t.Clone == nil {
		base, err = t.Base()
		if err == nil && len(base) == 0 {
			return nil, "the project has no files", nil
		}
		return base, "", err
	}
	c, err := e.checker(ctx)
	if err != nil {
		return nil, "", err
	}
	if e.clone != t.Clone.Path { // the instances of a repository mostly follow each other
		if why, err = c.addClone(ctx, t.Clone.Path); err != nil || why != "" {
			return nil, why, err
		}
		e.clone = t.Clone.Path
	}
	result, err := c.do(ctx, choir.DirectorTask{
		Kind: choir.TaskRun, Instruction: "Read the project at its commit.", Repo: cloneProject, TimeBudgetS: 600,
		Commands:      []choir.Command{{Argv: []string{"sh", "-c", readCommit, "sh", t.Clone.Commit}}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
		Return:        &choir.ReturnSpec{Artifacts: []string{"tree.tar.gz"}},
	})
	if err != nil {
		return nil, "", err
	}
	if len(result.Artifacts) != 1 {
		return nil, fmt.Sprintf("the commit %s cannot be read: %s", t.Clone.Commit, lastWords(result)), nil
	}
	raw, err := c.blob(ctx, result.Artifacts[0].Digest)
	if err != nil {
		return nil, "", err
	}
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, "the project came as no archive", nil
	}
	if base, err = eval.ReadTar(zipped, maxProject); err != nil {
		return nil, err.Error(), nil
	}
	return base, "", nil
}

// lastWords returns the end of what the last command of a result printed, or its summary.
func lastWords(r *choir.AssociateResult) string {
	if n := len(r.CommandsRun); n > 0 && r.CommandsRun[n-1].StderrTail != "" {
		return strings.TrimSpace(r.CommandsRun[n-1].StderrTail)
	}
	return r.Summary
}

// cloneProject is the project of the checks' computer that holds a clone while a commit of it is read.
const cloneProject = "choir-eval-clone"

// readCommit writes the tree of the commit $1 of the clone into an archive. git runs on the clone in the
// sandbox only.
const readCommit = `set -e
if [ -f clone.bundle ]; then git clone -q --bare clone.bundle clone.git; fi
git -c safe.directory='*' --git-dir=clone.git archive --output=tree.tar "$1"
gzip -1 tree.tar
`

// addClone brings the git folder of a clone, a bare clone or a bundle into the computer, as plain files.
func (c *evalComputer) addClone(ctx context.Context, path string) (why string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error(), nil
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(packClone(w, path, info)) }()
	defer r.Close()
	_, err = c.computer.Projects().Add(ctx, choir.RoleCLI, projects.NewProject{Name: cloneProject, Replace: true}, r)
	return "", err
}

// packClone writes a bundle as clone.bundle, or the git folder of a clone as clone.git, into a tar.
func packClone(w io.Writer, path string, info os.FileInfo) error {
	tw := tar.NewWriter(w)
	if !info.IsDir() {
		raw, err := os.ReadFile(path)
		if err == nil {
			err = tw.WriteHeader(&tar.Header{Name: "clone.bundle", Mode: 0o644, Size: int64(len(raw)), Typeflag: tar.TypeReg, Format: tar.FormatPAX})
		}
		if err == nil {
			_, err = tw.Write(raw)
		}
		return errors.Join(err, tw.Close())
	}
	folder := filepath.Join(path, ".git")
	if _, err := os.Stat(folder); err != nil {
		folder = path
	}
	err := filepath.WalkDir(folder, func(at string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, at)
		if err != nil {
			return err
		}
		return packOne(tw, at, filepath.Join("clone.git", rel), d, func(string) {})
	})
	return errors.Join(err, tw.Close())
}
