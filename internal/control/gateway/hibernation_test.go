package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/rolehost"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/guest"
	"choiros/internal/sandbox/sandboxtest"
)

// sleeper is a control plane whose clock the test sets, so that its computer is idle when
// the test says so.
type sleeper struct {
	*controltest.Plane
	t     testing.TB
	data  string
	ahead atomic.Int64 // of the machine's clock
	id    choir.ID
}

func startSleeper(t testing.TB) *sleeper {
	t.Helper()
	return startFullSleeper(t, 0)
}

// startFullSleeper starts a sleeper of whose computers a number may be open at once; 0 is any.
func startFullSleeper(t testing.TB, awake int) *sleeper {
	t.Helper()
	s := &sleeper{t: t, data: filepath.Join(sandboxtest.DataDir(t), "data")}
	cfg := controltest.Config(t, s.data)
	cfg.File.Computers.AwakeAtMost = awake
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	s.Plane = controltest.StartWith(t, cfg)
	s.Healthy()
	s.id = s.computer().ID()
	return s
}

func (s *sleeper) computer() *computer.Computer { return s.Computers()[0] }

// idle lets 31 minutes pass without a request, and sweeps.
func (s *sleeper) idle() {
	s.ahead.Add(int64(31 * time.Minute))
	s.Sweep(s.t.Context())
}

// open reports whether the computer is open and is not being closed.
func (s *sleeper) open() bool { return len(s.Figures(s.t.Context()).Computers) == 1 }

// eventually waits until something is so.
func (s *sleeper) eventually(what string, is func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), controltest.Patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("it never came to this: %s", what)
		case <-tick.C:
		}
	}
}

// hibernate makes the computer idle and waits until it hibernates. Fewer than 24 hours pass,
// because a session ends after them.
func (s *sleeper) hibernate() {
	s.t.Helper()
	passed := 0
	s.eventually("it hibernates", func() bool {
		if passed++; passed <= 20 {
			s.idle()
		} else {
			s.Sweep(s.t.Context())
		}
		return s.hibernates()
	})
}

func (s *sleeper) hibernates() bool { return len(s.Hibernated()) == 1 }

// sandboxed lists the processes in the sandboxes of the data folder.
func (s *sleeper) sandboxed() (out []string) {
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, proc := range found {
		mounts, _ := os.ReadFile(filepath.Join(proc, "mountinfo")) // it may have ended
		if strings.Contains(string(mounts), sandboxtest.Bound(s.t, s.data)) {
			out = append(out, proc)
		}
	}
	return out
}

// path returns a path of the computer in the API.
func (s *sleeper) path(rest string) string { return "/api/computers/" + string(s.id) + rest }

func TestAHundredRequestsWakeAComputerOnce(t *testing.T) {
	s := startSleeper(t)
	if len(s.sandboxed()) == 0 {
		t.Fatal("the test does not see the sandboxes")
	}
	if res, body := s.Do(req{Method: "PUT", Path: s.path("/files/kept.txt"), Body: strings.NewReader("kept"), Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, body)
	}
	if res, body := s.Do(req{Method: "POST", Path: s.path("/documents"), Body: map[string]string{"title": "kept", "content": "# kept"}}); res.StatusCode/100 != 2 {
		t.Fatalf("%s %s", res.Status, body)
	}
	var acknowledged []choir.Event
	for e, err := range s.computer().Store().Events(t.Context(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, e)
	}
	d := enterDesktop(t, s.Plane, s.id)
	s.hibernate()
	if left := s.sandboxed(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if h := s.Health(t.Context()); h.Status != "ok" {
		t.Errorf("health says %+v", h)
	}
	var list []api.ComputerView
	if res, body := s.Do(req{Method: "GET", Path: "/api/computers"}); res.StatusCode != 200 || json.Unmarshal(body, &list) != nil ||
		len(list) != 1 || !list[0].Hibernated || list[0].Name == "" || list[0].Head <= uint64(len(acknowledged)) || !s.hibernates() {
		t.Errorf("%s %s", res.Status, body)
	}
	s.strangersWakeNothing(t)

	var asked sync.WaitGroup
	for i := range 100 {
		asked.Go(func() {
			r := req{Method: "GET", Path: s.path("/files/kept.txt")}
			var res *http.Response
			var body []byte
			if i%2 == 0 {
				res, body = d.do(r)
			} else {
				res, body = s.Do(r)
			}
			if res.StatusCode != 200 || string(body) != "kept" {
				t.Errorf("request %d: %s %s", i, res.Status, body)
			}
		})
	}
	asked.Wait()
	if n := s.Figures(t.Context()).Pool; n.Opened != 2 || n.Closed != 1 {
		t.Errorf("counted are %+v", n)
	}
	sessions := 0
	for e, err := range s.computer().Store().Events(t.Context(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if int(e.Seq) <= len(acknowledged) && e.Hash != acknowledged[e.Seq-1].Hash {
			t.Errorf("event %d is another one than before", e.Seq)
		}
		if e.Type == choir.TypeSessionStarted {
			sessions++
		}
		if e.Type == choir.TypeSessionEnded && !strings.Contains(string(e.Payload), "idle") {
			t.Errorf("the session ended: %s", e.Payload)
		}
	}
	if sessions != 2 {
		t.Errorf("there were %d sessions", sessions)
	}
	s.hibernate() // a second time
}

// strangersWakeNothing asks for the hibernated computer as another user and as nobody, at
// every door.
func (s *sleeper) strangersWakeNothing(t *testing.T) {
	t.Helper()
	cookie, _ := loginStranger(t, s.Plane)
	theirs := http.Header{"Cookie": {cookieHeader(cookie)}}
	port := s.Host[strings.LastIndexByte(s.Host, ':'):]
	for _, r := range []req{
		{Method: "GET", Path: s.path(""), Header: theirs}, {Method: "GET", Path: s.path("/files/kept.txt"), Header: theirs},
		{Method: "POST", Path: s.path("/bus"), Header: theirs}, {Method: "POST", Path: s.path("/ticket"), Header: theirs},
	} {
		r.NoCookie = true
		if res, body := s.Do(r); res.StatusCode != http.StatusNotFound || !s.hibernates() {
			s.t.Errorf("a stranger: %s %s: %s %s", r.Method, r.Path, res.Status, body)
		}
		r.Header = nil
		if res, body := s.Do(r); res.StatusCode != http.StatusUnauthorized || !s.hibernates() {
			s.t.Errorf("nobody: %s %s: %s %s", r.Method, r.Path, res.Status, body)
		}
	}
	for _, name := range []string{"", "past--", "3000--"} {
		for _, path := range []string{"/", "/enter?ticket=x", "/__choir/enter?ticket=x", s.path(""), "/bus"} {
			res, _ := s.Do(req{Method: "GET", Path: path, Host: name + string(s.id) + ".localhost" + port, NoCookie: true, Header: http.Header{"Origin": nil}})
			if res.StatusCode < 400 || !s.hibernates() {
				s.t.Errorf("nobody at %s%s: %s", name, path, res.Status)
			}
		}
	}
}

// TestWhatKeepsAComputerAwake begins one thing after another that a computer must not
// hibernate with, and ends it.
func TestWhatKeepsAComputerAwake(t *testing.T) {
	s := startSleeper(t)
	for _, c := range []struct {
		name  string
		begin func(t *testing.T) (end func())
	}{
		{"an open task", s.openTask},
		{"a program in the foreground of a terminal", s.openProgram},
		{"a shell that became a program", func(t *testing.T) func() { return s.openTerminal(t, "exec sleep 600\n", 1) }},
		{"a page", s.openPage},
		{"a port that somebody uses", s.usePort},
		{"a request that is not answered yet", s.beginUse},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := c.begin(t)
			for range 2 {
				if s.idle(); !s.open() {
					t.Error("it hibernates")
				}
			}
			end()
		})
	}
	end := s.openTerminal(t, "echo a prompt\n", 0)
	defer end()
	s.hibernate()
}

// openTask submits a task that does not end until it is cancelled.
func (s *sleeper) openTask(t *testing.T) (end func()) {
	task := map[string]any{"kind": "run", "instruction": "x", "commands": []any{map[string]any{"shell": "sleep 600"}}}
	res, body := s.Do(req{Method: "POST", Path: s.path("/tasks"), Body: task})
	if res.StatusCode != 202 {
		t.Fatalf("%s %s", res.Status, body)
	}
	tasks := must(s.computer().Store().OpenTasks(t.Context()))(t)
	if len(tasks) != 1 {
		t.Fatalf("open are %d tasks", len(tasks))
	}
	return func() {
		if res, body := s.Do(req{Method: "POST", Path: s.path("/runs/" + string(tasks[0].Run) + "/cancel"), Body: map[string]string{}}); res.StatusCode/100 != 2 {
			t.Fatalf("%s %s", res.Status, body)
		}
		s.eventually("the task ends", func() bool { return len(must(s.computer().Store().OpenTasks(t.Context()))(t)) == 0 })
		s.eventually("the run ends", func() bool { return len(must(s.computer().Store().OpenRuns(t.Context()))(t)) == 0 })
	}
}

func (s *sleeper) openProgram(t *testing.T) (end func()) {
	return s.openTerminal(t, "sleep 600\n", 1)
}

// openTerminal types into a new terminal, and waits until so many terminals have a program
// in the foreground.
func (s *sleeper) openTerminal(t *testing.T, keys string, foreground int) (end func()) {
	terminals := s.computer().Roles().Terminals()
	info := must(terminals.Open(t.Context(), choir.RoleShell, rolehost.NewTerminal{Type: keys}))(t)
	// The files that a shell reads at its start run programs too, each for a moment.
	inARow := 0
	s.eventually("a program runs in the foreground", func() bool {
		inARow++
		if must(s.computer().Roles().Foreground(t.Context()))(t) != foreground {
			inARow = 0
		}
		return inARow == 20
	})
	return func() {
		if err := terminals.Close(context.WithoutCancel(t.Context()), choir.RoleShell, info.ID); err != nil && s.open() {
			t.Error(err)
		}
	}
}

// openPage connects to the bus as the shell does.
func (s *sleeper) openPage(t *testing.T) (end func()) {
	res, body := s.Do(req{Method: "POST", Path: s.path("/bus")})
	var g api.Grant
	if err := json.Unmarshal(body, &g); err != nil || res.StatusCode != 201 {
		t.Fatalf("%s %s", res.Status, body)
	}
	nc := must(nats.Connect("nats://gateway:1", nats.SetCustomDialer(dialer{t, s.Plane, nil}), nats.UserJWTAndSeed(g.JWT, g.Seed),
		nats.CustomInboxPrefix(g.Inbox), nats.NoReconnect()))(t)
	return func() {
		nc.Close()
		s.eventually("the bus has no page", func() bool { return len(must(s.Bus().Pages())(t)) == 0 })
	}
}

// hang is a server that says that it was asked, and answers nothing.
const hang = `
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
print(1, flush=True)
time.sleep(600)
`

// usePort sends a request to a preview that is not answered.
func (s *sleeper) usePort(t *testing.T) (end func()) {
	proc := must(s.computer().Roles().Exec(context.WithoutCancel(t.Context()), guest.ExecSpec{Argv: []string{"python3", "-c", hang}}))(t)
	said := make(chan int, 2)
	var running, asking sync.WaitGroup
	running.Go(func() {
		_, _ = proc.Wait(portReader{said}, nil) // it is killed
		close(said)
	})
	port, ok := <-said
	if !ok {
		t.Skip("there is no Python in the sandbox")
	}
	host, cookie := enterPreview(t, enterDesktop(t, s.Plane, s.id), port)
	ctx, cancel := context.WithCancel(t.Context())
	asking.Go(func() {
		r := must(http.NewRequestWithContext(ctx, "GET", "http://"+s.Address+"/", nil))(t)
		r.Host = host
		r.AddCookie(cookie)
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
			t.Errorf("it answers %s", res.Status)
		}
	})
	<-said
	return func() {
		cancel()
		asking.Wait() // else the end of the server may be answered
		if err := proc.Kill(); err != nil {
			t.Error(err)
		}
		running.Wait()
	}
}

// beginUse begins a use of the computer, as each request is one until it is answered.
func (s *sleeper) beginUse(t *testing.T) (end func()) {
	return must(s.Edge().Use(t.Context(), s.id))(t)
}

// BenchmarkWake measures the first answer of a hibernated computer, to a request that needs
// its sandbox, beside a bare start of bubblewrap before it.
func BenchmarkWake(b *testing.B) {
	s := startSleeper(b)
	var wakes, bare []float64
	for b.Loop() {
		b.StopTimer()
		s.hibernate()
		began := time.Now()
		if out, err := exec.CommandContext(b.Context(), "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		bare = append(bare, time.Since(began).Seconds()*1000)
		began = time.Now()
		b.StartTimer()
		if res, body := s.Do(req{Method: "GET", Path: s.path("/folder")}); res.StatusCode != 200 {
			b.Fatalf("%s %s", res.Status, body)
		}
		wakes = append(wakes, time.Since(began).Seconds()*1000)
	}
	slices.Sort(wakes)
	slices.Sort(bare)
	b.ReportMetric(wakes[len(wakes)/2], "ms/wake")
	b.ReportMetric(bare[len(bare)/2], "ms/bwrap")
	b.ReportMetric(wakes[len(wakes)/2]/bare[len(bare)/2], "x")
}

// TestAFullChoirWakesNobody has a choir of which two computers may be open. A third one is refused
// with the time to wait, whether it would be made or woken, until an idle one has made room.
func TestAFullChoirWakesNobody(t *testing.T) {
	s := startFullSleeper(t, 2)
	fork := func(name string) req {
		return req{Method: "POST", Path: s.path("/fork"), Body: map[string]string{"name": name}}
	}
	if res, body := s.Do(fork("second")); res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	s.refusedAsFull(fork("third"))
	if n := s.Figures(t.Context()).Pool; n.Open != 2 || n.Hibernated != 0 {
		t.Errorf("counted are %+v", n)
	}
	s.ahead.Add(int64(2 * time.Minute)) // of no use
	s.eventually("room is made for a third computer", func() bool {
		res, _ := s.Do(fork("third"))
		return res.StatusCode == http.StatusCreated
	})
	asleep := s.Hibernated()
	if len(asleep) != 1 {
		t.Fatalf("%+v hibernate", asleep)
	}
	wake := req{Method: "GET", Path: "/api/computers/" + string(asleep[0].ID) + "/runs"}
	s.refusedAsFull(wake)
	s.ahead.Add(int64(2 * time.Minute))
	s.eventually("room is made for the hibernated computer", func() bool {
		res, _ := s.Do(wake)
		return res.StatusCode == http.StatusOK
	})
	if n := s.Figures(t.Context()).Pool; n.Open != 2 || n.Hibernated != 1 {
		t.Errorf("counted are %+v", n)
	}
}

// refusedAsFull fails the test unless a request is refused because as many computers are open as may
// be.
func (s *sleeper) refusedAsFull(r req) {
	s.t.Helper()
	res, body := s.Do(r)
	if p := s.Problem(res, body); res.StatusCode != http.StatusServiceUnavailable || p.Reason != choir.ReasonTooManyAwake || res.Header.Get("Retry-After") != "10" {
		s.t.Errorf("%s %s: %s %v %s", r.Method, r.Path, res.Status, res.Header, body)
	}
}

// TestForksThatRaceStayWithinTheLimit has a choir of which two computers may be open, one of which
// is, and forks it four times at once: one fork is made, and the rest are refused.
func TestForksThatRaceStayWithinTheLimit(t *testing.T) {
	s := startFullSleeper(t, 2)
	var forks sync.WaitGroup
	var made, refused atomic.Int64
	for _, name := range []string{"second", "third", "fourth", "fifth"} {
		forks.Go(func() {
			res, body := s.Do(req{Method: "POST", Path: s.path("/fork"), Body: map[string]string{"name": name}})
			switch {
			case res.StatusCode == http.StatusCreated:
				made.Add(1)
			case res.StatusCode == http.StatusServiceUnavailable && s.Problem(res, body).Reason == choir.ReasonTooManyAwake:
				refused.Add(1)
			default:
				t.Errorf("%s: %s %s", name, res.Status, body)
			}
		})
	}
	forks.Wait()
	if n := s.Figures(t.Context()).Pool; made.Load() != 1 || refused.Load() != 3 || n.Open != 2 {
		t.Errorf("%d were made, %d refused, counted are %+v", made.Load(), refused.Load(), n)
	}
}
