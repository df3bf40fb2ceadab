package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newTrashCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "trash", Short: "List what lies in the trash", Args: cobra.NoArgs,
		Long:    "List what lies in the trash: what was thrown away, and what no moment holds and was in the\nway of a rewind.",
		Example: "  choir trash\n  choir trash restore ID\n  choir trash drop ID\n  choir trash drop --all",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return listTrash(ctx, a, cl) })
		},
	}
	c.AddCommand(newTrashRestoreCommand(a), newTrashDropCommand(a))
	return c
}

func newTrashRestoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "restore ID [PATH]", Short: "Move an item to where it was, or to another path",
		RunE: func(c *cobra.Command, args []string) error {
			var req api.RestoreRequest
			if len(args) == 2 {
				req.To = args[1]
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				var f choir.FileState
				if err := cl.post(ctx, cl.path("/trash/"+url.PathEscape(args[0])+"/restore"), req, &f); err != nil {
					return err
				}
				if a.json {
					a.printJSON(f)
				} else {
					a.printf("%-9s %s\n", "restored", f.Path)
				}
				return nil
			})
		},
	}
}

func newTrashDropCommand(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "drop [ID]", Short: "Remove an item, or all, for good",
		Long: "Remove an item of the trash, or all with --all, for good. The timeline still has it,\nbut for what no moment holds. What is large is removed in the background.",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case !all && len(args) == 0:
				return missing(c, "ID")
			case all && len(args) == 1:
				return choir.RefuseField("--all", choir.ReasonAllTakesNoID, choir.TextOf("id", args[0]))
			}
			query := ""
			if len(args) == 1 {
				query = "?id=" + url.QueryEscape(args[0])
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				return cl.call(ctx, http.MethodDelete, cl.path("/trash"+query), nil, nil)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "everything in the trash")
	return c
}

func listTrash(ctx context.Context, a *app, c *client) error {
	var t api.Trash
	if err := c.get(ctx, c.path("/trash"), &t); err != nil {
		return err
	}
	if a.json {
		a.printJSON(t)
		return nil
	}
	a.printNone(len(t.Items), "The trash is empty.")
	for _, i := range t.Items {
		a.printf("%s  %s  %s (%s)\n", i.ID, i.At.Std().Local().Format("2006-01-02 15:04:05"), i.From, i.File.Kind)
	}
	return nil
}
