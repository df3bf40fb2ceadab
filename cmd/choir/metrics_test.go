package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// marked is a word that a person writes, as no other text could contain it.
const marked = "zq-words-of-the-owner-7f3a"

// TestFiguresAreReadThroughTheSocketOrWithTheirToken asks a whole choir for its
// figures by each way, after a task and a refused host.
func TestFiguresAreReadThroughTheSocketOrWithTheirToken(t *testing.T) {
	m := newMachine(t, "")
	up := m.up()
	up.healthy()
	shell := "mkdir -p workspace; echo x > workspace/" + marked + `; bash -c "exec 3<>/dev/tcp/127.0.0.1/8801; printf 'CONNECT ` + marked + `:443 HTTP/1.1\r\nHost: ` + marked + `:443\r\n\r\n' >&3; head -1 <&3"`
	task := shellTask("edit_repo", "", shell, `,"verify_profile":{"mode":"none"}`)
	task = strings.Replace(task, `"repo":"",`, "", 1)
	if r := m.runWith(strings.Replace(task, "Do it.", marked, 1), "task", "-"); r.code != 0 {
		t.Fatalf("the task: %d %s%s", r.code, r.out, r.errOut)
	}
	id := string(m.client().computer)
	m.eventually("the blobs are measured", func() error {
		if !strings.Contains(m.must("metrics"), `choir_disk_bytes{computer="`+id+`",part="blobs"}`) {
			return os.ErrNotExist
		}
		return nil
	})
	all := m.must("metrics")
	for _, line := range []string{
		`choir_events_total{computer="` + id + `",type="` + string(choir.TypeTaskReturned) + `"} 1`,
		`choir_task_seconds_count{kind="edit_repo",status="ok"} 1`,
		`choir_egress_refused_total{computer="` + id + `"} 1`,
		`choir_sandbox_starts_total{driver="local",how="made",role="associate"} 1`,
		`choir_sandbox_running{computer="` + id + `",role="director"} 1`,
		`choir_tasks_open{computer="` + id + `"} 0`,
		`choir_command_seconds_count{verb="task-begin"} 1`,
		`choir_http_requests_total{door="socket",route="POST /api/computers/{computer}/tasks",status="2xx"} 1`,
		`choir_failing{part="sandbox"} 0`,
	} {
		if !strings.Contains(all, "\n"+line+"\n") {
			t.Errorf("the figures lack %s", line)
		}
	}
	for _, name := range []string{"choir_append_seconds_count", "choir_scan_seconds_count", "choir_bus_connections", "choir_log_copy_lag_events", "choir_data_free_bytes", "go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(all, "\n"+name) || strings.Contains(all, "\n"+name+" 0\n") {
			t.Errorf("%s is not told", name)
		}
	}
	if files := `choir_workspace_files{computer="` + id + `"} `; !strings.Contains(all, "\n"+files) || strings.Contains(all, files+"0\n") {
		t.Error("the size of the workspace is not told")
	}
	if strings.Contains(all, marked) {
		t.Error("the owner's words are in the figures")
	}
	if t.Failed() {
		t.Log(all)
	}
	tryTheDoorOfFigures(t, m, up)
}

// tryTheDoorOfFigures asks over HTTP, with and without what it takes.
func tryTheDoorOfFigures(t *testing.T, m *machine, up *running) {
	v := &visitor{r: up}
	if got := v.logIn(up.Login); got != http.StatusNoContent {
		t.Fatalf("login: %d", got)
	}
	if got, body := figures(t, up, "", "", v.cookie); got != http.StatusUnauthorized || strings.Contains(body, "choir_") {
		t.Errorf("with a session and no token there is none: %d %s", got, body)
	}
	first := strings.TrimSpace(m.must("metrics", "token"))
	for what, ask := range map[string][2]string{"no token": {"", ""}, "a wrong one": {"Bearer " + first + "x", ""}, "one in the address": {"", "?token=" + first}, "one as a password": {"Basic " + first, ""}} {
		if got, _ := figures(t, up, ask[0], ask[1], v.cookie); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", what, got)
		}
	}
	if got, body := figures(t, up, "Bearer "+first, "", nil); got != http.StatusOK || !strings.Contains(body, "\nchoir_log_head{") {
		t.Errorf("with its token: %d %s", got, body)
	}
	res := ask(t, up, "/api/computers", "", "Bearer "+first, nil)
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token of the figures reads more: %s", res.Status)
	}
	id := string(m.client().computer)
	if body := read(t, ask(t, up, "/metrics", id+".localhost", "Bearer "+first, nil)); strings.Contains(body, "choir_log_head") {
		t.Error("the desktop's address gives the figures")
	}
	second := strings.TrimSpace(m.must("metrics", "token"))
	up.stop()
	if holds(t, m.data, first) || holds(t, m.data, second) {
		t.Error("the data folder has a token")
	}
	up = m.up()
	if got, _ := figures(t, up, "Bearer "+first, "", nil); got != http.StatusUnauthorized {
		t.Errorf("a token that was replaced: %d", got)
	}
	if got, _ := figures(t, up, "Bearer "+second, "", nil); got != http.StatusOK {
		t.Errorf("its token, after a start: %d", got)
	}
	m.must("metrics", "token", "--remove")
	if got, _ := figures(t, up, "Bearer "+second, "", nil); got != http.StatusUnauthorized {
		t.Errorf("a token that was removed: %d", got)
	}
}

// figures asks for the figures as Prometheus does, by address.
func figures(t *testing.T, up *running, authorization, query string, cookie *http.Cookie) (int, string) {
	t.Helper()
	res := ask(t, up, "/metrics"+query, "", authorization, cookie)
	return res.StatusCode, read(t, res)
}

// ask sends one request; host is a name in place of the address.
func ask(t *testing.T, up *running, path, host, authorization string, cookie *http.Cookie) *http.Response {
	t.Helper()
	port := up.Address[strings.LastIndexByte(up.Address, ':'):]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+port+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case host != "":
		req.Host = host + port
	case path == "/api/computers":
		req.Host = strings.TrimPrefix(up.Address, "http://")
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if cookie != nil {
		req.AddCookie(cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// holds says whether a file below a folder has a text, or the JSON of it.
func holds(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // choir has removed it
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil // a guest's binary, which nobody reads, or one that was removed
		}
		found = found || strings.Contains(string(raw), text) || strings.Contains(string(raw), string(quoted))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
