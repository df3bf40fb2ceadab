package projects

import (
	"context"
	"io"
	"path"
	"slices"

	"choiros/internal/choir"
)

// Export writes the work on a project since it was added: a git bundle with
// the branch, or a mailbox of patches. Code not_found when there is none; code conflict
// when git cannot read the repository, or its last commit has what was taken back.
func (p *Projects) Export(ctx context.Context, role choir.Role, name, format string, w io.Writer) error {
	if !choir.ValidRepoName(name) {
		return choir.Refuse("computer.export", choir.ReasonNotAProjectName, choir.TextOf("name", name)).At("name")
	}
	if format != "bundle" && format != "patch" {
		return choir.RefuseField("format", choir.ReasonExportFormat, choir.TextOf("given", format))
	}
	k, err := p.read(ctx)
	if err != nil {
		return err
	}
	base, err := k.baseOf(name)
	if err == nil {
		err = p.mustHaveCommitted(ctx, k, name)
	}
	if err != nil {
		return err
	}
	client, err := p.sandbox.Guest(ctx)
	if err != nil {
		return err
	}
	git := p.git(client, path.Join(Folder, name))
	head, err := git.commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if head == "" && (base != "" || slices.ContainsFunc(k.commits, func(c commit) bool { return c.repo == name })) {
		return choir.Refuse("computer.export", choir.ReasonRepositoryBroken, choir.TextOf("name", name))
	}
	if head == "" || head == base {
		return choir.Refuse("computer.export", choir.ReasonNoWorkToExport, choir.TextOf("name", name))
	}
	if base != "" {
		// A history that was written anew leaves nothing to compare with.
		if base, err = git.commit(ctx, base); err != nil {
			return err
		}
	}
	args := exportArgs(format, base)
	var stderr words
	code, err := git.run(ctx, w, &stderr, nil, args...)
	if err != nil {
		return err
	}
	if code != 0 {
		return choir.Refuse("computer.export", choir.ReasonGitFailed, choir.TextOf("command", args[0]), choir.TextOf("name", name), choir.TextOf("exit", code), choir.TextOf("said", stderr.String()))
	}
	_, err = p.events.Append(ctx, role, choir.RepoExported{Name: name, Format: format, Commit: head})
	return err
}

// exportArgs returns the arguments for git to write everything, or the commits after
// base.
func exportArgs(format, base string) []string {
	args := []string{"bundle", "create", "-", "HEAD", "--branches"}
	if format == "patch" {
		args = []string{"format-patch", "--stdout", "--binary", "--full-index"}
	}
	switch {
	case base == "" && format == "patch":
		return append(args, "--root", "HEAD")
	case format == "patch":
		return append(args, base+"..HEAD")
	case base != "":
		return append(args, "^"+base)
	}
	return args
}
