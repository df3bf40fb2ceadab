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
		Use: "vault", Short: "Keep keys that programs use without having them", Args: cobra.NoArgs,
		Long: "Keep keys, encrypted, that the control plane adds to requests after they have left the sandbox.\n" +
			"Each is bound to one host, to paths and methods there, and to one computer; no key is ever printed.\n" +
			"Exit codes: 0 done, 1 failed, 2 usage, 4 refused by policy.",
		Example: "  choir vault set forge --host git.example.com --path /me < token.txt\n  choir vault list\n  choir vault remove forge\n  choir vault rotate",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newVaultSetCommand(a), newVaultListCommand(a), newVaultRemoveCommand(a), newVaultRotateCommand(a))
	return c
}

func newVaultSetCommand(a *app) *cobra.Command {
	var req api.VaultRequest
	c := &cobra.Command{
		Use: "set NAME", Short: "Keep a key, from standard input or a hidden prompt, and bind it",
		Long: "Keep a key and bind it; replaces one of the same name. The key comes from standard input, or a\n" +
			"prompt that shows nothing, and never from an argument or a variable.\n" +
			"Without --header it is the password of git's requests, for choir repo add URL --credential NAME.",
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
			if req.Key, err = a.readSecret("Key of " + args[0] + ": "); err != nil {
				return err
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runVaultSet(ctx, a, cl, args[0], req) })
		},
	}
	c.Flags().StringVar(&req.Host, "host", "", "host that the key is for, exactly")
	c.Flags().IntVar(&req.Port, "port", 443, "its port")
	c.Flags().StringArrayVar(&req.Paths, "path", nil, "path at and below which it is used, such as /me/project.git (default all)")
	c.Flags().StringArrayVar(&req.Methods, "method", nil, "fetch or push for git, else a method in capitals (default all)")
	c.Flags().StringVar(&req.Project, "project", "", "only with this project, for git")
	c.Flags().StringVar(&req.User, "user", "", "user name, for git (default git)")
	c.Flags().StringVar(&req.Header, "header", "", "header that it is added as, for other requests than git's")
	c.Flags().StringVar(&req.Prefix, "prefix", "", "text before it in the header, such as 'Bearer '")
	return c
}

func newVaultListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the entries and what they are bound to", Args: cobra.NoArgs,
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
				a.printNone(len(list), "The vault is empty. To put a key in: choir vault set NAME --host HOST")
				for _, e := range list {
					a.printf("%-20s %s\n", e.Name, saysBound(e.Bound))
				}
				return nil
			})
		},
	}
}

func newVaultRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove an entry",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				if err := cl.call(ctx, http.MethodDelete, cl.path("/vault/"+url.PathEscape(args[0])), nil, nil); err != nil || a.json {
					return err
				}
				a.printf("Removed %s.\n", args[0])
				return nil
			})
		},
	}
}

func newVaultRotateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Encrypt the vault under a new master key",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				if err := cl.post(ctx, "/api/vault/rotate", nil, nil); err != nil || a.json {
					return err
				}
				a.printf("The vault is encrypted under a new master key; the old one is gone.\n")
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
	a.printf("Kept %s: %s.\n", e.Name, saysBound(e.Bound))
	return nil
}

// saysBound says for what an entry may be used.
func saysBound(b choir.VaultBinding) string {
	out := hostPort(b.Host, b.Port) + " " + strings.Join(b.Paths, " ")
	if b.Use == choir.VaultForGit {
		out = "git at " + out + ", as " + b.User
	} else {
		out = b.Header + " at " + out
	}
	if len(b.Methods) > 0 {
		out += ", " + strings.Join(b.Methods, " ")
	}
	if b.Project != "" {
		out += ", project " + b.Project
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
