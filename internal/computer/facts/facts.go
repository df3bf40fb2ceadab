// Package facts reads the workspace for the Director, which has no files of its own. Read
// describes in about a kilobyte what lay there when a run was asked for: the projects,
// what is in them, how they are checked, and the heads of their README and AGENTS.md.
// LookAtWorkspace lists a folder, reads lines of a file or searches.
//
// Both read a snapshot and nothing else: no git, no sandbox. Their answers are bounded,
// on short lines, and in the words of the files, which nobody vouches for.
package facts

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Log finds the prompt of a run and the result of a task; eventstore.Store is one.
type Log interface {
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
}

// Tree returns the snapshot of the workspace as of an event; moments.Moments has one.
// Code not_found: there is none.
type Tree func(ctx context.Context, seq uint64) (choir.Digest, error)

// Facts reads the facts of one computer. Read may be called at once.
type Facts struct {
	log     Log
	tree    Tree
	content snapshot.Getter
}

// New returns the Facts of the computer with a log, whose snapshots tree finds and
// content holds.
func New(log Log, tree Tree, content snapshot.Getter) *Facts {
	return &Facts{log: log, tree: tree, content: content}
}

// maxFolders is the maximum of folders that one Read looks into.
const maxFolders = 500

// projects is the folder of the workspace in which the projects lie.
const projects = "workspace"

// Read returns the facts for a run: of the project that its prompt names, else of all
// projects. They are the same whenever they are asked for, as long as the snapshot is
// kept; without one there are none. Code not_found: there is no such run.
func (f *Facts) Read(ctx context.Context, run choir.ID) (out choir.FactsReadReply, err error) {
	asked, err := f.log.First(ctx, choir.TypePromptSubmitted, string(run))
	if err != nil {
		return out, err
	}
	var prompt choir.PromptSubmitted
	if err := choir.DecodeDurable(asked.Payload, &prompt); err != nil {
		return out, err
	}
	root, err := f.tree(ctx, asked.Seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	tree := snapshot.NewFS(ctx, f.content, root, maxFolders)
	// What cannot be read is left out: facts are a help, and no run fails for them.
	if prompt.Repo != "" {
		out.Text = one(tree, path.Join(projects, prompt.Repo))
	} else {
		out.Text = all(tree)
	}
	return out, ctx.Err()
}

// one returns the facts of one project.
func one(tree *snapshot.FS, dir string) string {
	p := readProject(tree, dir)
	if p == nil {
		return ""
	}
	return clip(p.lines(inFull), choir.MaxFacts)
}

// shares are the maximum sizes of the parts of a project's facts, in bytes; a part of
// none is left out.
type shares struct{ names, checks, commits, readme, agents int }

// The parts of the one project that a run is about, and of each of several.
var (
	inFull  = shares{names: 300, checks: 160, commits: 240, readme: 300, agents: 300}
	inBrief = shares{names: 120, checks: 100, readme: 100, agents: 60}
)

// all returns the facts of the workspace: its other folders, and its projects as far as
// they fit.
func all(tree *snapshot.FS) string {
	var b strings.Builder
	for _, known := range [][2]string{
		{"choiros", "the source of this computer's desktop"},
		{"artifacts", "documents, pictures and other finished files"},
	} {
		if st, err := tree.Stat(known[0]); err == nil && st.IsDir() {
			b.WriteString(known[0] + "/ holds " + known[1] + "\n")
		}
	}
	found, _ := tree.ReadDir(projects)
	found = slices.DeleteFunc(found, func(d fs.DirEntry) bool { return !d.IsDir() || !choir.ValidRepoName(d.Name()) })
	for i, d := range found {
		p := readProject(tree, path.Join(projects, d.Name()))
		if p == nil {
			continue
		}
		share := inBrief
		if len(found) == 1 {
			share = inFull
		}
		text := p.lines(share)
		if b.Len()+len(text) > choir.MaxFacts-40 {
			b.WriteString("and " + count(len(found)-i, "project") + " more\n")
			break
		}
		b.WriteString(text)
	}
	return clip(b.String(), choir.MaxFacts)
}
