package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// record keeps what choir acknowledged: the replies that come in on its standard
// input, and every event that a reader was shown. Each is on its own disk before
// the next is taken. It ends with its input.
func record(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: crashmatrix record DATA FILE")
	}
	out, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	shown := make(chan []reply)
	go func() {
		defer close(shown)
		watch(ctx, newSocket(args[0]), shown)
	}()
	replies := make(chan reply)
	go func() {
		defer stop()
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			var r reply
			if json.Unmarshal(in.Bytes(), &r) == nil {
				replies <- r
			}
		}
		if err := in.Err(); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
		}
	}()
	for open := true; open && err == nil; {
		select {
		case r := <-replies:
			err = appendReplies(out, []reply{r})
		case rs, ok := <-shown:
			open = ok
			err = appendReplies(out, rs)
		}
	}
	return errors.Join(err, out.Close())
}

// appendReplies writes replies to the record, one line each, and syncs it.
func appendReplies(out *os.File, rs []reply) error {
	for _, r := range rs {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", raw); err != nil {
			return err
		}
	}
	return out.Sync()
}

// watch reads the log as a browser does. What was shown once must stay.
func watch(ctx context.Context, s *socket, shown chan<- []reply) {
	for after := uint64(0); ctx.Err() == nil; {
		var page struct {
			Events []reply `json:"events"`
		}
		err := s.call(ctx, "GET", fmt.Sprintf("/events?after=%d&limit=1000&wait=1", after), "", nil, &page)
		if err != nil || len(page.Events) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
			continue
		}
		for i := range page.Events {
			page.Events[i].step = step{Verb: "shown"}
			page.Events[i].Task = ""
			after = page.Events[i].Seq
		}
		select {
		case shown <- page.Events:
		case <-ctx.Done():
		}
	}
}

// acknowledged reads what a recorder kept.
func acknowledged(path string) ([]reply, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []reply
	for in := bufio.NewScanner(f); in.Scan(); {
		var r reply
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("the recorder's file: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}
