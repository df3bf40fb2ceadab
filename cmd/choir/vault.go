package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/keyring"
)

func newVaultCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "vault", Args: cobra.NoArgs,
		Example: "  choir vault set forge --host git.example.com --path /me < token.txt\n  choir vault list\n  choir vault remove forge\n  choir vault rotate",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newVaultSetCommand(a), newVaultListCommand(a), newVaultRemoveCommand(a), newVaultRotateCommand(a))
	return c
}

func newVaultSetCommand(a *app) *cobra.Command {
	var req api.VaultRequest
	c := &cobra.Command{
		Use: "set NAME",
		Example: "  choir vault set forge --host git.example.com --path /me --user oauth2 < token.txt\n" +
			"  choir vault set api --host api.example.com --header Authorization --prefix 'Bearer ' --method GET < key.txt",
		RunE: func(c *cobra.Command, args []string) error {
			req.Use = string(choir.VaultForGit)
			if req.Header != "" {
				req.Use = string(choir.VaultForHeader)
			}
			if req.Host == "" {
				return choir.RefuseField("--host", choir.ReasonVaultHostMissing)
			}
			var err error
			if req.Key, err = a.readSecret(a.sentence("vault.ask", "name", args[0])); err != nil {
				return err
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runVaultSet(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().StringVar(&req.Host, "host", "", "")
	c.Flags().IntVar(&req.Port, "port", 443, "")
	c.Flags().StringArrayVar(&req.Paths, "path", nil, "")
	c.Flags().StringArrayVar(&req.Methods, "method", nil, "")
	c.Flags().StringVar(&req.Project, "project", "", "")
	c.Flags().StringVar(&req.User, "user", "", "")
	c.Flags().StringVar(&req.Header, "header", "", "")
	c.Flags().StringVar(&req.Prefix, "prefix", "", "")
	return c
}

func newVaultListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				var list []api.VaultEntry
				if err := cl.get(ctx, cl.path("/vault"), &list); err != nil {
					return err
				}
				if a.json {
					a.printJSON(list)
					return nil
				}
				a.sayNone(len(list), "vault.none")
				for _, e := range list {
					a.printf("%-20s %s\n", e.Name, a.bound(e.Bound))
				}
				return nil
			})
		},
	}
}

func newVaultRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				if err := cl.call(ctx, http.MethodDelete, cl.path("/vault/"+url.PathEscape(args[0])), nil, nil); err != nil || a.json {
					return err
				}
				a.say("vault.gone", "name", args[0])
				return nil
			})
		},
	}
}

func newVaultRotateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rotate",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				if err := cl.post(ctx, "/api/vault/rotate", nil, nil); err != nil || a.json {
					return err
				}
				a.say("vault.rotated")
				return nil
			})
		},
	}
}

func runVaultSet(ctx context.Context, a *app, c *client, name string, req api.VaultRequest) error {
	var e api.VaultEntry
	if err := c.put(ctx, c.path("/vault/"+url.PathEscape(name)), req, &e); err != nil {
		return err
	}
	if a.json {
		a.printJSON(e)
		return nil
	}
	a.say("vault.kept", "name", e.Name, "bound", a.bound(e.Bound))
	return nil
}

// bound describes for what an entry may be used.
func (a *printer) bound(b choir.VaultBinding) string {
	where := hostPort(b.Host, b.Port) + " " + strings.Join(b.Paths, " ")
	out := a.sentence("vault.header", "header", b.Header, "where", where)
	if b.Use == choir.VaultForGit {
		out = a.sentence("vault.git", "where", where, "user", b.User)
	}
	if len(b.Methods) > 0 {
		out += ", " + strings.Join(b.Methods, " ")
	}
	if b.Project != "" {
		out += a.sentence("vault.project", "project", b.Project)
	}
	return out
}

// readSecret returns one line of standard input; on a terminal it asks and shows nothing of what is
// typed. The secret is in no error.
func (a *app) readSecret(prompt string) (string, error) {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		_, _ = io.WriteString(a.err, prompt)
		raw, err := term.ReadPassword(int(f.Fd()))
		_, _ = io.WriteString(a.err, "\n")
		return strings.TrimSpace(string(raw)), choir.Wrap("", choir.CodeUnavailable, err, "read the key")
	}
	raw, err := a.readInput("-", keyring.MaxKey+2)
	return strings.TrimSpace(string(raw)), err
}
