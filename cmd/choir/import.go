package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newImportCommand(a *app) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:     "import FILE",
		Example: "  choir import computer.choir\n  choir import computer.choir --name \"{name}\"",
		RunE: func(c *cobra.Command, args []string) error {
			file := io.NopCloser(a.in)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return choir.Refuse("", choir.ReasonFileUnreadable, choir.TextOf("path", args[0]), choir.TextOf("why", err))
				}
				file = f
			}
			defer file.Close()
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runImport(ctx, a, cl, file, name) })
		},
	}
	c.Flags().StringVar(&name, "name", "", "")
	return c
}

func runImport(ctx context.Context, a *app, c *client, file io.Reader, name string) error {
	var made api.Imported
	if err := c.call(ctx, http.MethodPost, "/api/computers?name="+url.QueryEscape(name), file, &made); err != nil {
		return err
	}
	for _, path := range made.Withheld {
		a.warn("import.withheld", "path", path)
	}
	if a.json {
		a.printJSON(made)
		return nil
	}
	a.say("import.made", "name", made.Name, "seq", made.Seq, "quoted", strconv.Quote(made.Name))
	return nil
}
