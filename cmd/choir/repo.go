package main

import (
	"context"
	"fmt"
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
	"choiros/internal/timeline"
)

func newRepoCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "repo", Short: "Bring projects in and take the work out", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var name, format, output, credential string
	add := &cobra.Command{
		Use: "add PATH", Short: "Copy a project, with its history, into the computer, or clone it from an https address",
		Example: "  choir repo add ~/src/hello\n  choir repo add . --name hello\n  choir repo add https://git.example.com/me/hello.git --credential forge",
		RunE: func(c *cobra.Command, args []string) error {
			if isURL(args[0]) {
				return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
					return runRepoClone(ctx, a, cl, api.CloneRequest{Name: name, URL: args[0], Credential: credential})
				})
			}
			if credential != "" {
				return choir.RefuseField("--credential", choir.ReasonCredentialForHttps, choir.TextOf("path", args[0]))
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runRepoAdd(ctx, a, cl, args[0], name) })
		},
	}
	add.Flags().StringVar(&name, "name", "", "name under workspace/ (default the folder's)")
	add.Flags().StringVar(&credential, "credential", "", "entry of the vault for an address; choir vault list lists them")
	list := &cobra.Command{
		Use: "list", Short: "List the projects", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runRepoList(ctx, a, cl) })
		},
	}
	export := &cobra.Command{
		Use: "export NAME", Short: "Write the work on a project as a branch you can pull, or as patches",
		Example: "  choir repo export hello -o hello.bundle   # then: git pull hello.bundle HEAD\n  choir repo export hello --format patch -o hello.patch   # then: git am hello.patch",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				return runRepoExport(ctx, a, cl, args[0], format, output)
			})
		},
	}
	export.Flags().StringVar(&format, "format", "bundle", "bundle or patch")
	export.Flags().StringVarP(&output, "output", "o", "", "file to write (default NAME.bundle or NAME.patch; - for standard output)")
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
		err := packTree(w, abs, func(line string) { a.warn(line) })
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
	history := ""
	if added.Head != "" {
		history = " and its git history"
	}
	a.printf("Added %s: %s%s, %s. Work on it with: choir prompt --repo %s \"...\"\n", added.Name, timeline.Count(added.Files, "file"), history, timeline.Bytes(added.Bytes), added.Name)
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
	a.printNone(len(list), "There is no project yet. To bring one in: choir repo add PATH")
	for _, r := range list {
		a.printf("%-24s %12s  %s\n", r.Name, timeline.Count(r.Files, "file"), r.Head)
		if r.URL != "" {
			a.printf("  from %s%s\n", r.URL, withCredential(r.Credential))
		}
		if r.Push != nil {
			a.printf("  push to %s: %s\n", r.Push.URL, saysPush(*r.Push))
		}
	}
	return nil
}

// withCredential names the entry of the vault that a repository's requests get.
func withCredential(name string) string {
	if name == "" {
		return ""
	}
	return ", with " + name
}

// saysPush says how the pushes of a project stand; what git said is untrusted.
func saysPush(p api.RepoPush) string {
	switch p.State {
	case "pushed":
		return "has " + p.Commit
	case "failing":
		return fmt.Sprintf("failed %s, is tried again: %s", timeline.Count(p.Attempts, "time"), lines(p.Said))
	case "waiting":
		return "is under way"
	}
	return "nothing committed yet"
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
	a.printf("Cloned %s: %s, %s. Work on it with: choir prompt --repo %s \"...\"\n", added.Name, timeline.Count(added.Files, "file"), timeline.Bytes(added.Bytes), added.Name)
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
	a.printf("Wrote %s, %s. In your own clone: %s\n", output, timeline.Bytes(n), lines(how))
	return nil
}
