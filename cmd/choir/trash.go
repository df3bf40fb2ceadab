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
		Use: "trash", Args: cobra.NoArgs,
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
		Use: "restore ID [PATH]",
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
					a.printChange("restored", f.Path)
				}
				return nil
			})
		},
	}
}

func newTrashDropCommand(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "drop [ID]",
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
	c.Flags().BoolVar(&all, "all", false, "")
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
	a.sayNone(len(t.Items), "trash.none")
	for _, i := range t.Items {
		a.printf("%s  %s  %s (%s)\n", i.ID, i.At.Std().Local().Format("2006-01-02 15:04:05"), i.From, a.term("fileKind", i.File.Kind))
	}
	return nil
}
