package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/control/api"
)

func newRunCommandsCommand(a *app) *cobra.Command {
	var follow, end string
	c := &cobra.Command{
		Use:     "commands [ID]",
		Example: "  choir run commands\n  choir run commands --follow COMMAND\n  choir run commands --end COMMAND",
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := a.dial(c.Context())
			if err != nil {
				return err
			}
			var run choir.ID
			if len(args) > 0 {
				run = choir.ID(args[0])
			}
			all, err := cl.runningCommands(c.Context(), run)
			switch {
			case err != nil:
				return err
			case end != "":
				return runCommandEnd(c.Context(), a, cl, all, end)
			case follow != "":
				return runCommandFollow(c.Context(), a, cl, all, follow)
			}
			return runCommandList(a, all)
		},
	}
	c.Flags().StringVar(&follow, "follow", "", "")
	c.Flags().StringVar(&end, "end", "", "")
	c.MarkFlagsMutuallyExclusive("follow", "end")
	return c
}

// runningCommands returns the running commands of agents, of one run unless that is empty. Code
// not_found: there is no such run.
func (c *client) runningCommands(ctx context.Context, run choir.ID) ([]terminals.Info, error) {
	if run != "" {
		if err := c.get(ctx, c.path("/runs/"+url.PathEscape(string(run))), &api.RunView{}); err != nil {
			return nil, err
		}
	}
	all := []terminals.Info{}
	if err := c.get(ctx, c.path("/terminals"), &all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(t terminals.Info) bool { return t.Agent == nil || run != "" && t.Agent.Run != run }), nil
}

// runCommandList prints running commands.
func runCommandList(a *app, all []terminals.Info) error {
	if a.json {
		a.printJSON(all)
		return nil
	}
	a.sayNone(len(all), "commands.none")
	for _, t := range all {
		a.say("commands.command", "id", t.ID, "at", t.Opened.Std().Local().Format("15:04:05"), "command", t.Agent.Command, "task", t.Agent.Title)
	}
	return nil
}

// named returns the running command with an id. Code not_found: there is none.
func named(all []terminals.Info, id string) (terminals.Info, error) {
	for _, t := range all {
		if string(t.ID) == id {
			return t, nil
		}
	}
	return terminals.Info{}, choir.Refuse("", choir.ReasonNoCommandRuns, choir.TextOf("id", id))
}

// runCommandEnd ends a running command.
func runCommandEnd(ctx context.Context, a *app, c *client, all []terminals.Info, id string) error {
	t, err := named(all, id)
	if err == nil {
		err = c.call(ctx, http.MethodDelete, c.path("/terminals/"+string(t.ID)), nil, nil)
	}
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(t)
		return nil
	}
	a.say("commands.ended", "command", t.Agent.Command)
	return nil
}

// runCommandFollow prints the output of a running command until it ends.
func runCommandFollow(ctx context.Context, a *app, c *client, all []terminals.Info, id string) error {
	t, err := named(all, id)
	if err != nil {
		return err
	}
	ws, _, err := websocket.Dial(ctx, "ws://choir"+c.path("/terminals/"+string(t.ID)+"/socket"), &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		return c.lost(ctx, err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 20)
	var seen uint64
	for {
		kind, b, err := ws.Read(ctx)
		if err != nil {
			return c.lost(ctx, err)
		}
		if kind == websocket.MessageBinary {
			seen += uint64(len(b))
			a.printf("%s", lines(strings.ReplaceAll(string(b), "\r\n", "\n")))
			if err := writeSocket(ctx, ws, api.TerminalSay{Ack: seen}); err != nil {
				return c.lost(ctx, err)
			}
			continue
		}
		var n api.TerminalNote
		switch err := json.Unmarshal(b, &n); {
		case err != nil:
			return err
		case n.Cut != nil:
			return n.Cut
		case n.Output != nil:
			seen = n.Output.From
		case n.End != nil:
			a.sayEnd(*n.End)
			return nil
		}
	}
}

// writeSocket sends a message as JSON.
func writeSocket(ctx context.Context, ws *websocket.Conn, say api.TerminalSay) error {
	raw, err := json.Marshal(say)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, raw)
}

// sayEnd prints how a command ended, and that it did so now.
func (a *printer) sayEnd(e terminals.End) {
	at := time.Now().Format("15:04:05")
	switch {
	case e.Reason == choir.TerminalLost:
		a.sayAside("commands.lost", "at", at)
	case e.Signal != "":
		a.sayAside("commands.signalled", "at", at, "signal", e.Signal)
	default:
		a.sayAside("commands.exited", "at", at, "code", e.Code)
	}
}
