package main

import (
	"context"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newMetricsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "metrics", Args: cobra.NoArgs,
		Example: "  choir metrics | grep choir_append\n  choir metrics token > /etc/prometheus/choir.token",
		RunE:    func(c *cobra.Command, _ []string) error { return runMetrics(c.Context(), a) },
	}
	c.AddCommand(newMetricsTokenCommand(a))
	return c
}

func newMetricsTokenCommand(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use: "token", Args: cobra.NoArgs,
		Example: "  choir metrics token > /etc/prometheus/choir.token\n  choir metrics token --remove",
		RunE:    func(c *cobra.Command, _ []string) error { return runMetricsToken(c.Context(), a, remove) },
	}
	c.Flags().BoolVar(&remove, "remove", false, "")
	return c
}

// maxFigures limits the printed text, in bytes.
const maxFigures = 64 << 20

func runMetrics(ctx context.Context, a *app) error {
	c, err := a.dial(ctx)
	if err != nil {
		return err
	}
	res, err := c.do(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxFigures))
	if err != nil {
		return c.lost(ctx, err)
	}
	if a.json {
		a.printJSON(struct {
			Text string `json:"text"`
		}{string(text)})
		return nil
	}
	a.printf("%s", lines(text))
	return nil
}

func runMetricsToken(ctx context.Context, a *app, remove bool) error {
	c, err := a.dial(ctx)
	if err != nil {
		return err
	}
	if remove {
		return c.call(ctx, http.MethodDelete, "/api/metrics/token", nil, nil)
	}
	var made api.Link
	if err := c.post(ctx, "/api/metrics/token", nil, &made); err != nil {
		return err
	}
	if made.Token == "" {
		return choir.E("choir.metrics", choir.CodeInternal, "no token was made")
	}
	if a.json {
		a.printJSON(made)
		return nil
	}
	a.printf("%s\n", made.Token)
	return nil
}
