package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newRepoCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "repo", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var name, format, output, credential string
	add := &cobra.Command{
		Use:     "add PATH",
		Example: "  choir repo add ~/src/hello\n  choir repo add . --name hello\n  choir repo add https://git.example.com/me/hello.git --credential forge",
		RunE: func(c *cobra.Command, args []string) error {
			if isURL(args[0]) {
				return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
					return runRepoClone(ctx, a, cl, api.CloneRequest{Name: name, URL: args[0], Credential: credential})
				})
			}
			if credential != "" {
				return choir.RefuseField("--credential", choir.ReasonCredentialForHTTPS, choir.TextOf("path", args[0]))
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runRepoAdd(ctx, a, cl, args[0], name) })
		},
	}
	add.Flags().StringVar(&name, "name", "", "")
	add.Flags().StringVar(&credential, "credential", "", "")
	list := &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runRepoList(ctx, a, cl) })
		},
	}
	export := &cobra.Command{
		Use:     "export NAME",
		Example: "  choir repo export hello -o hello.bundle   # {then}: git pull hello.bundle HEAD\n  choir repo export hello --format patch -o hello.patch   # {then}: git am hello.patch",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				return runRepoExport(ctx, a, cl, args[0], format, output)
			})
		},
	}
	export.Flags().StringVar(&format, "format", "bundle", "")
	export.Flags().StringVarP(&output, "output", "o", "", "")
	c.AddCommand(add, list, export)
	return c
}

// withoutScheme matches an address whose scheme is left out, as people copy it: github.com/me/hello.
var withoutScheme = regexp.MustCompile(`^([a-z0-9-]+\.)+[a-z]{2,}(:[0-9]+)?/\S`)

func isURL(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "git@")
}

// runRepoAdd packs a project's folder, with the rights of the user who runs the command, and sends it
// to the computer. It executes nothing of the project.
func runRepoAdd(ctx context.Context, a *app, c *client, from, name string) error {
	abs, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		if withoutScheme.MatchString(from) {
			return choir.Refuse("", choir.ReasonFolderOrAddress, choir.TextOf("path", abs), choir.TextOf("address", from))
		}
		return choir.Refuse("", choir.ReasonFolderMissing, choir.TextOf("path", abs))
	}
	if name == "" {
		name = filepath.Base(abs)
	}
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := packTree(w, abs, func(path string) { a.warn("repo.leftOut", "path", path) })
		packed <- err
		w.CloseWithError(err)
	}()
	var added choir.RepoAdded
	err = c.call(ctx, http.MethodPut, c.path("/repos/"+url.PathEscape(name)), r, &added)
	r.Close()
	if packErr := <-packed; packErr != nil && !isClosedPipe(packErr) {
		return choir.Wrap("", choir.CodeInvalid, packErr, "read %s", abs)
	}
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(added)
		return nil
	}
	key := "repo.addedFiles"
	if added.Head != "" {
		key = "repo.addedHistory"
	}
	a.say(key, "name", added.Name, "n", added.Files, "size", a.size(added.Bytes))
	return nil
}

func runRepoList(ctx context.Context, a *app, c *client) error {
	var list []api.Repo
	if err := c.get(ctx, c.path("/repos"), &list); err != nil {
		return err
	}
	if a.json {
		a.printJSON(list)
		return nil
	}
	a.sayNone(len(list), "repo.none")
	for _, r := range list {
		a.printf("%-24s %12s  %s\n", r.Name, a.count("file", r.Files), r.Head)
		switch {
		case r.Credential != "":
			a.printf("  %s\n", a.sentence("repo.fromWith", "url", r.URL, "credential", r.Credential))
		case r.URL != "":
			a.printf("  %s\n", a.sentence("repo.from", "url", r.URL))
		}
		if r.Push != nil {
			a.printf("  %s\n", a.sentence("repo.push", "url", r.Push.URL, "state", a.pushState(*r.Push)))
		}
	}
	return nil
}

// pushState describes how the pushes of a project stand; what git said is untrusted.
func (a *printer) pushState(p api.RepoPush) string {
	switch p.State {
	case "pushed":
		return a.sentence("repo.hasCommit", "commit", p.Commit)
	case "failing":
		return a.sentence("repo.pushFails", "n", p.Attempts, "said", p.Said)
	case "waiting":
		return a.sentence("repo.pushing")
	}
	return a.sentence("repo.nothingToPush")
}

// runRepoClone has the computer clone a repository through the git gateway.
func runRepoClone(ctx context.Context, a *app, c *client, req api.CloneRequest) error {
	if req.Name == "" {
		req.Name = strings.TrimSuffix(path.Base(req.URL), ".git")
	}
	var added choir.RepoAdded
	if err := c.post(ctx, c.path("/repos"), req, &added); err != nil {
		return err
	}
	if a.json {
		a.printJSON(added)
		return nil
	}
	a.say("repo.cloned", "name", added.Name, "n", added.Files, "size", a.size(added.Bytes))
	return nil
}

func runRepoExport(ctx context.Context, a *app, c *client, name, format, output string) error {
	res, err := c.do(ctx, http.MethodGet, c.path("/repos/"+url.PathEscape(name)+"/export?format="+url.QueryEscape(format)), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if output == "-" {
		_, err = io.Copy(a.raw, res.Body)
		return err
	}
	if output == "" {
		output = name + "." + format
	}
	f, err := os.Create(output)
	if err != nil {
		return choir.Refuse("", choir.ReasonFileNotWritten, choir.TextOf("path", output), choir.TextOf("why", err))
	}
	n, err := io.Copy(f, res.Body)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(output)
		return choir.E("", choir.CodeInternal, "the export of %s broke off: %v", name, err)
	}
	if a.json {
		a.printJSON(struct {
			File  string `json:"file"`
			Bytes int64  `json:"bytes"`
		}{output, n})
		return nil
	}
	how := "git pull " + output + " HEAD"
	if format == "patch" {
		how = "git am " + output
	}
	a.say("repo.wrote", "file", output, "size", a.size(n), "how", lines(how))
	return nil
}
