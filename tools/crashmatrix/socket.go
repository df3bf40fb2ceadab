package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// socket speaks to the choir of a data folder.
type socket struct {
	http     *http.Client
	computer string
	header   map[string]string // of every request
}

// with is the socket with one more header.
func (s *socket) with(name, value string) *socket {
	more := maps.Clone(s.header)
	if more == nil {
		more = map[string]string{}
	}
	more[name] = value
	return &socket{s.http, s.computer, more}
}

// refused is nil for a refusal with this status: what an earlier try did, whose
// answer was lost, stands in the way of the next.
func refused(err error, status int) error {
	var no *refusal
	if errors.As(err, &no) && no.Status == status {
		return nil
	}
	return err
}

func newSocket(data string) *socket {
	path := filepath.Join(data, "choir.sock")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &socket{http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// refusal is an answer that is not a success.
type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Detail) }

// call makes one request below the computer's path.
func (s *socket) call(ctx context.Context, method, path, key string, body, into any) error {
	if s.computer == "" {
		var list []struct {
			ID string `json:"id"`
		}
		if err := s.request(ctx, "GET", "/api/computers", "", nil, &list); err != nil {
			return err
		}
		if len(list) == 0 {
			return errors.New("no computer")
		}
		s.computer = list[0].ID
	}
	return s.request(ctx, method, "/api/computers/"+s.computer+path, key, body, into)
}

func (s *socket) request(ctx context.Context, method, path, key string, body, into any) error {
	var content io.Reader
	switch body := body.(type) {
	case nil:
	case io.Reader:
		content = body
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://choir"+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range s.header {
		req.Header.Set(name, value)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 400 {
		r := &refusal{Status: res.StatusCode}
		// A body that is no problem document leaves the status.
		_ = json.NewDecoder(res.Body).Decode(r)
		return r
	}
	if into == nil {
		return nil
	}
	if w, ok := into.(io.Writer); ok {
		_, err := io.Copy(w, res.Body)
		return err
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// corruptFor is how long a step is tried again that is refused because something
// is damaged. A verification mends in a second what it can.
const corruptFor = limit / 3

// again tries until it succeeds, is refused for good, or the time is over, which
// is longer on a machine that has more to do than it has cores.
func again(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, stretched(limit))
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	var before error // what the last try that was answered said
	sound := time.Now()
	for {
		err := try(ctx)
		if !corrupt(err) {
			sound = time.Now()
		} else if time.Since(sound) > stretched(corruptFor) {
			return err
		}
		if err != nil && ctx.Err() != nil && before != nil {
			return fmt.Errorf("gave up: %w", before)
		}
		before = err
		var no *refusal
		if err == nil || errors.As(err, &no) && no.Status < 500 && no.Status != http.StatusTooManyRequests && no.Status != http.StatusConflict {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up: %w", err)
		case <-tick.C:
		}
	}
}

func corrupt(err error) bool {
	var no *refusal
	return errors.As(err, &no) && no.Code == "corrupt"
}
