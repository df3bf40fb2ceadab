package taskrunner

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Limits of the artifacts of one task: their number, and the size of each in bytes.
const (
	maxArtifacts     = 64
	maxArtifactBytes = 64 << 20
)

// artifacts stores the files that match the task's artifact patterns as blobs and lists
// them in the result. It does nothing if the result has artifacts already.
func (j *job) artifacts() error {
	if j.task.Return == nil || len(j.result.Artifacts) > 0 {
		return nil
	}
	for _, pattern := range j.task.Return.Artifacts {
		match, err := tools.Glob(pattern)
		if err != nil {
			return fail(choir.ResultInvalidTask, "the task was refused: return.artifacts: %v", err)
		}
		if err := j.collect(func(rel string) bool { return match.MatchString(rel) }); err != nil {
			return err
		}
	}
	return nil
}

// collect stores the files for whose path below the task's folder want returns true as artifacts.
func (j *job) collect(want func(rel string) bool) error {
	return filepath.WalkDir(j.place.scope.Root, func(file string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(j.place.scope.Root, file)
		switch {
		case len(j.result.Artifacts) >= maxArtifacts:
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
		digest, err := j.cfg.Blobs.PutBlob(j.life, content)
		j.result.Artifacts = append(j.result.Artifacts, choir.BlobRef{Name: snapshot.EscapePath([]byte(rel)), Digest: digest, Size: int64(len(content))})
		return err
	})
}

// fit shortens a result until it fits into its event: first it moves the diff to a blob,
// then it cuts texts, lists and outputs and says so in the summary.
func (j *job) fit(r *choir.AssociateResult) error {
	if n := []rune(r.Summary); len(n) > 20_000 {
		r.Summary = string(n[:20_000])
	}
	steps := []func(){
		func() {
			if r.Diff != nil && r.Diff.Content != "" {
				if d, err := j.cfg.Blobs.PutBlob(context.WithoutCancel(j.life), []byte(r.Diff.Content)); err == nil {
					r.Diff = &choir.Diff{Format: r.Diff.Format, Blob: d}
				}
			}
		},
		func() { r.Summary, r.Verify.Log = tools.Cut(r.Summary, 4000), tools.Cut(r.Verify.Log, 2000) },
		func() {
			note := "\n[This result is cut: " + count(len(r.FilesChanged), "file") + " changed, " + count(len(r.CommandsRun), "command") + " ran; the log and the diff have all.]"
			r.FilesChanged, r.IgnoredFiles, r.Conflicts = first(r.FilesChanged, 100), first(r.IgnoredFiles, 50), first(r.Conflicts, 50)
			r.CommandsRun, r.Verify.Commands = short(r.CommandsRun), short(r.Verify.Commands)
			r.Summary += note
		},
	}
	for _, step := range steps {
		raw, err := choir.Canonical(choir.TaskReturned{Result: *r})
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
