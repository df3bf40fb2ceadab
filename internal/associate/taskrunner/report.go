package taskrunner

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// report makes the result of one task, and answers the task with it.
type report struct {
	rec     *record
	started choir.Time
	result  choir.AssociateResult
	drafts  []choir.Draft // appended together with the result
}

// newReport returns the report of a task of which nothing is known yet.
func newReport(rec *record) *report {
	return &report{rec: rec, started: rec.now(), result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: rec.event.Task, RunID: rec.event.Run, Status: choir.StatusOK,
	}}
}

// Limits of the artifacts of one task: their number, and the size of each in bytes.
const (
	maxArtifacts     = 64
	maxArtifactBytes = 64 << 20
)

// note adds a sentence to the result's summary.
func (r *report) note(s string) {
	r.result.Summary = strings.TrimSpace(r.result.Summary + "\n" + s)
}

// addArtifacts stores the files below root that match the patterns of a task as blobs and lists
// them in the result. It does nothing if the result has artifacts already.
func (r *report) addArtifacts(root string, wanted *choir.ReturnSpec) error {
	if wanted == nil || len(r.result.Artifacts) > 0 {
		return nil
	}
	for _, pattern := range wanted.Artifacts {
		match, err := tools.Glob(pattern)
		if err != nil {
			return fail(choir.ResultInvalidTask, "the task was refused: return.artifacts: %v", err)
		}
		if err := r.collect(root, func(rel string) bool { return match.MatchString(rel) }); err != nil {
			return err
		}
	}
	return nil
}

// collect stores the files for whose path below root want returns true as artifacts.
func (r *report) collect(root string, want func(rel string) bool) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(root, file)
		switch {
		case len(r.result.Artifacts) >= maxArtifacts:
			return fs.SkipAll
		case err != nil || rerr != nil:
			return nil // gone meanwhile, or not readable: no artifact
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular() || !want(filepath.ToSlash(rel)):
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxArtifactBytes {
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		digest, err := r.rec.blobs.PutBlob(r.rec.life, content)
		r.result.Artifacts = append(r.result.Artifacts, choir.BlobRef{Name: snapshot.EscapePath([]byte(rel)), Digest: digest, Size: int64(len(content))})
		return err
	})
}

// showChange puts a change into the result: its diff, of which left files were left out, the
// files, and the names of what git ignores.
func (r *report) showChange(diff *choir.Diff, left int, files []choir.FileChange) {
	r.result.Diff, r.result.FilesChanged = diff, files
	if left > 0 {
		r.note(count(left, "changed file") + " could not be written as a diff and are only listed.")
	}
}

// addCheckpoint puts what is there of a checkpoint into the result.
func (r *report) addCheckpoint(p point) {
	for _, sentence := range p.notes {
		r.note(sentence)
	}
	if p.snapshot != "" {
		r.result.Snapshot = p.snapshot
	}
	if p.commit != nil {
		r.result.Checkpoint = p.commit
	}
	r.drafts = append(r.drafts, p.drafts...)
}

// dropCheckpoint removes from the result what was kept of a task that is taken back.
func (r *report) dropCheckpoint() {
	r.result.Snapshot, r.result.Checkpoint, r.drafts = "", nil, nil
}

// setDuration sets the duration of the task, which ends now.
func (r *report) setDuration() { r.result.Usage.WallMS = max(0, int64(r.rec.now()-r.started)) }

// setFailure makes the result that of a task that failed with f.
func (r *report) setFailure(f *failure) {
	r.result.Status, r.result.Code, r.result.Summary = choir.StatusFailed, f.code, f.summary
	r.result.SuggestedNext = suggest(f.code)
}

// answer appends the result together with the drafts. It returns nil if the control plane
// has already answered the task, or holds the result until the owner has approved it.
func (r *report) answer() error {
	if err := r.fit(); err != nil {
		return err
	}
	d, err := choir.NewDraft(choir.DeriveID(r.rec.event.Task, "returned"), choir.TaskReturned{Result: r.result})
	if err != nil {
		return err
	}
	err = r.rec.appendEvents(append(r.drafts, r.rec.mine(d))...)
	if first := choir.FirstOf(err); first != nil && first.Type == d.Type {
		return nil // the control plane answered in its place
	}
	if reason, _ := choir.ReasonOf(err); reason == choir.ReasonEffectHeld {
		return nil // the control plane answers once the owner has
	}
	return err
}

// fit shortens the result until it fits into its event: first it moves the diff to a blob,
// then it cuts texts, lists and outputs and says so in the summary.
func (r *report) fit() error {
	if n := []rune(r.result.Summary); len(n) > 20_000 {
		r.result.Summary = string(n[:20_000])
	}
	steps := []func(){
		func() {
			if r.result.Diff != nil && r.result.Diff.Content != "" {
				if d, err := r.rec.blobs.PutBlob(context.WithoutCancel(r.rec.life), []byte(r.result.Diff.Content)); err == nil {
					r.result.Diff = &choir.Diff{Format: r.result.Diff.Format, Blob: d}
				}
			}
		},
		func() {
			r.result.Summary, r.result.Verify.Log = tools.Cut(r.result.Summary, 4000), tools.Cut(r.result.Verify.Log, 2000)
		},
		func() {
			note := "\n[This result is cut: " + count(len(r.result.FilesChanged), "file") + " changed, " + count(len(r.result.CommandsRun), "command") + " ran; the log and the diff have all.]"
			r.result.FilesChanged, r.result.IgnoredFiles, r.result.Conflicts = first(r.result.FilesChanged, 100), first(r.result.IgnoredFiles, 50), first(r.result.Conflicts, 50)
			r.result.CommandsRun, r.result.Verify.Commands = short(r.result.CommandsRun), short(r.result.Verify.Commands)
			r.result.Summary += note
		},
	}
	for _, step := range steps {
		raw, err := choir.Canonical(choir.TaskReturned{Result: r.result})
		if err != nil || len(raw) <= inlineRoom {
			return err
		}
		step()
	}
	return nil
}

// short returns the last 20 commands, without their output.
func short(runs []choir.CommandRun) []choir.CommandRun {
	out := append([]choir.CommandRun(nil), runs[max(0, len(runs)-20):]...)
	for i := range out {
		out[i].Command = tools.Cut(out[i].Command, 400)
		out[i].StdoutTail, out[i].StderrTail = "", ""
	}
	return out
}
