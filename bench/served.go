package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// servedPatience is the longest wait for a computer of a served choir, and for its end.
const servedPatience = 2 * time.Minute

// served is a choir that runs this binary on a data folder of its own.
type served struct {
	cmd    *exec.Cmd
	client http.Client
	ended  chan struct{} // closed when the process has ended
}

// serveChoir starts choir on a data folder, with settings in TOML: top-level keys, such as a rung's,
// and keys of [computers].
func serveChoir(ctx context.Context, data, top, computers string) (s *served, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, choir.Wrap("bench.served", choir.CodeUnavailable, err, "find this binary")
	}
	settings := top + "\n[listen]\naddress = \"127.0.0.1:0\"\n\n[computers]\n" + computers + "\n"
	if err := os.WriteFile(filepath.Join(data, "choir.toml"), []byte(settings), 0o600); err != nil {
		return nil, choir.Wrap("bench.served", choir.CodeUnavailable, err, "write the configuration")
	}
	s = &served{cmd: exec.Command(self, "up", "--json", "--data", data), ended: make(chan struct{})}
	var said bytes.Buffer
	s.cmd.Stderr = &said
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, choir.Wrap("bench.served", choir.CodeUnavailable, err, "start choir")
	}
	lines := bufio.NewReader(out)
	line, readErr := lines.ReadBytes('\n')
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(io.Discard, lines) // nothing more is of interest
		_ = s.cmd.Wait()                  // its last words are in said
	}()
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(data, "choir.sock"))
	}}
	var up struct{ Address string }
	if readErr != nil || json.Unmarshal(line, &up) != nil || up.Address == "" {
		s.close()
		return nil, choir.E("bench.served", choir.CodeUnavailable, "choir did not come up: %s%s", line, strings.TrimSpace(said.String()))
	}
	return s, ctx.Err()
}

// close ends choir in order, and by force when it does not.
func (s *served) close() {
	s.client.CloseIdleConnections()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(servedPatience):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
	}
}

// ask sends a request as the owner, and decodes its answer into out unless that is nil.
func (s *served) ask(ctx context.Context, method, path string, body, out any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return choir.Wrap("bench.served", choir.CodeInvalid, err, "encode a request")
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://choir"+path, sent)
	if err != nil {
		return choir.Wrap("bench.served", choir.CodeInvalid, err, "make a request")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return choir.Wrap("bench.served", choir.CodeUnavailable, err, "%s %s", method, path)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, raw)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	return choir.Wrap("bench.served", choir.CodeUnavailable, err, "%s %s", method, path)
}

func (s *served) computers(ctx context.Context) (list []api.ComputerView, err error) {
	err = s.ask(ctx, http.MethodGet, "/api/computers", nil, &list)
	return list, err
}

// await asks for the computers until each is as wanted, and returns them. what says in an
// error how that would have been.
func (s *served) await(ctx context.Context, what string, wanted func(api.ComputerView) bool) ([]api.ComputerView, error) {
	ctx, cancel := context.WithTimeout(ctx, servedPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := s.computers(ctx)
		if err != nil {
			return nil, err
		}
		all := len(list) > 0
		for _, c := range list {
			all = all && wanted(c)
		}
		if all {
			return list, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, choir.Wrap("bench.served", choir.CodeUnavailable, ctx.Err(), "the %d computers are not all %s", len(list), what)
		case <-s.ended:
			return nil, choir.E("bench.served", choir.CodeUnavailable, "choir has ended")
		}
	}
}

// awaitFigure waits until a figure without labels has a value.
func (s *served) awaitFigure(ctx context.Context, name string, value int) error {
	ctx, cancel := context.WithTimeout(ctx, servedPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	want := fmt.Sprintf("\nchoir_%s %d\n", name, value)
	for {
		figures, err := s.figures(ctx)
		if err != nil || strings.Contains(figures, want) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return choir.Wrap("bench.served", choir.CodeUnavailable, ctx.Err(), "choir_%s is not %d", name, value)
		case <-s.ended:
			return choir.E("bench.served", choir.CodeUnavailable, "choir has ended")
		}
	}
}

// figures returns the text of /metrics.
func (s *served) figures(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://choir/metrics", nil)
	if err != nil {
		return "", choir.Wrap("bench.served", choir.CodeInvalid, err, "make a request")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return "", choir.Wrap("bench.served", choir.CodeUnavailable, err, "read the figures")
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), choir.Wrap("bench.served", choir.CodeUnavailable, err, "read the figures")
}

func hibernates(c api.ComputerView) bool { return c.Hibernated }

// idles reports whether both sandboxes of a computer run.
func idles(c api.ComputerView) bool { return !c.Hibernated && len(c.Isolation) == 2 }

// wake asks for something that only an open computer has.
func (s *served) wake(ctx context.Context, id choir.ID) error {
	return s.ask(ctx, http.MethodGet, "/api/computers/"+string(id)+"/desktop", nil, nil)
}

// fork makes computers of the first one until there are n.
func (s *served) fork(ctx context.Context, n int) error {
	list, err := s.computers(ctx)
	if err != nil {
		return err
	}
	for i := len(list); i < n && err == nil; i++ {
		err = errors.Join(ctx.Err(), s.ask(ctx, http.MethodPost, "/api/computers/"+string(list[0].ID)+"/fork", api.ForkRequest{Name: fmt.Sprintf("copy %d", i)}, nil))
	}
	return err
}
