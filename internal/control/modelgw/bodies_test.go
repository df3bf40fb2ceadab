package modelgw_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
)

// programPaths are the paths of the APIs that read a body of a program.
var programPaths = []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses"}

// sendPart opens a connection and sends the header of a request of size bytes and no more
// than part of it. The answer has to come within 10 seconds.
func (r *rig) sendPart(t *testing.T, path string, size int, part string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr.Load().(string))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, size, part)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s is not answered: %v", path, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Bodies of up to 8 MiB were read and decoded for any program, and the question whether it
// may call came afterwards.
func TestAProgramThatMayNotCallIsRefusedBeforeItsBodyIsRead(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) {
		routes(&stub{stream: saysHello})(c)
		c.Running = func(*http.Request) (modelgw.Work, error) { return modelgw.Work{}, nil }
	})
	for _, path := range programPaths {
		resp := r.sendPart(t, path, model.MaxCallBytes, "{")
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), `"error":{`) || !strings.Contains(string(body), "model_budget") {
			t.Errorf("%s answers %s: %s, %v", path, resp.Status, body, err)
		}
	}
}

// Each level of a result's content was decoded by passes over all of its rest, which took
// minutes of a processor.
func TestNestedContentIsDecodedOnce(t *testing.T) {
	r := newRig(t, routes(&stub{stream: saysHello}))
	const levels = 4_990
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","content":[` +
		strings.Repeat(`{"content":[`, levels) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]}", levels) + "]}]}]}"
	for _, path := range programPaths[:3] {
		c := plainHTTP(t)
		c.Timeout = 20 * time.Second
		resp, err := c.Post(r.http.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s answers %s", path, resp.Status)
		}
	}
}

// Three bytes of a list became a struct of 200.
func TestARequestOfTooManyElementsIsRefused(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	post := func(path, body string) int {
		t.Helper()
		resp, err := plainHTTP(t).Post(r.http.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	const head = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":`
	many := func(element string) string { return "[" + strings.Repeat(element+",", 70_000) + element + "]" }
	for name, c := range map[string]struct{ path, body string }{
		"blocks":           {programPaths[0], head + many("{}") + "}]}"},
		"counted blocks":   {programPaths[1], head + many("0") + "}]}"},
		"parts of results": {programPaths[0], head + `[{"type":"tool_result","content":` + many("null") + "}]}]}"},
		"system":           {programPaths[0], `{"model":"m","system":` + many(`{"type":"text"}`) + "}"},
		"messages":         {programPaths[2], `{"model":"m","messages":` + many("{}") + "}"},
		"calls":            {programPaths[2], `{"model":"m","messages":[{"role":"assistant","tool_calls":` + many("{}") + "}]}"},
		"items":            {programPaths[3], `{"model":"m","input":` + many("{}") + "}"},
		"summaries":        {programPaths[3], `{"model":"m","input":[{"type":"reasoning","summary":` + many("{}") + "}]}"},
		"tools":            {programPaths[3], `{"model":"m","input":"hi","tools":[{"type":"namespace","tools":` + many("{}") + "}]}"},
		"values of a tool's input": {programPaths[0], head + `"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"b":[` +
			strings.Repeat("0,", 600_000) + `0],"a":1}}]}]}`},
	} {
		if status := post(c.path, c.body); status != http.StatusRequestEntityTooLarge {
			t.Errorf("too many %s are answered with %d", name, status)
		}
	}
	if p.calls() != 0 {
		t.Errorf("the provider was asked %d times", p.calls())
	}
	turn := `,{"role":"assistant","content":[{"type":"text","text":"a, [b] {c} \"d"},{"type":"tool_use","id":"t","name":"f","input":{"edits":[1,2,3,{"x":[4,5]}]}}]}` +
		`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"e"},{"type":"text","text":"f"}]},{"type":"text","text":"g"}]}`
	rows := `,{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"b":[` + strings.Repeat("0,", 100_000) + `0],"a":1}}]}` +
		`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]}`
	if status := post(programPaths[0], head+`"hi"}`+strings.Repeat(turn, 2_000)+rows+`]}`); status != http.StatusOK || p.calls() != 1 {
		t.Errorf("a conversation of 4,003 messages is answered with %d after %d calls", status, p.calls())
	}
}

// Texts were joined by copying all before each one.
func TestTextsAreJoinedOnce(t *testing.T) {
	list := func(element string) string { return strings.Repeat(element+",", 60_000) + element }
	for name, c := range map[string]struct {
		parse func([]byte) (model.Request, error)
		body  string
	}{
		"system":             {modelgw.ParseMessages, `{"system":[` + list(`{"type":"text","text":"x"}`) + "]}"},
		"system messages":    {modelgw.ParseMessages, `{"messages":[` + list(`{"role":"system","content":"x"}`) + "]}"},
		"parts":              {modelgw.ParseCompletions, `{"messages":[{"role":"user","content":[` + list(`{"type":"text","text":"x"}`) + "]}]}"},
		"developer messages": {modelgw.ParseCompletions, `{"messages":[` + list(`{"role":"developer","content":"x"}`) + "]}"},
		"items":              {modelgw.ParseResponses, `{"input":[` + list(`{"role":"system","content":"x"}`) + "]}"},
		"parts of an item":   {modelgw.ParseResponses, `{"input":[{"role":"user","content":[` + list(`{"type":"input_text","text":"x"}`) + "]}]}"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		req, err := c.parse([]byte(c.body))
		runtime.ReadMemStats(&after)
		if err != nil || strings.Count(fmt.Sprint(req), "x") < 60_001 {
			t.Errorf("%s: %v", name, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 400 {
			t.Errorf("to join 60,001 texts of %s took %d MiB", name, took)
		}
	}
}

// heldBody is the body of a request that arrives once gate is closed.
type heldBody struct {
	io.Reader
	gate    chan struct{}
	reading *atomic.Int64 // bodies of which a part was asked for
	once    sync.Once
}

func (b *heldBody) Read(p []byte) (int, error) {
	b.once.Do(func() { b.reading.Add(1) })
	<-b.gate
	return b.Reader.Read(p)
}

func (b *heldBody) Close() error { return nil }

// A program held 8 MiB for each of its 256 streams by sending all of a request but a byte.
func TestFewBodiesAreInMemoryAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{}
		cfg := modelgw.Config{
			Computer: id(t), Log: log, Blobs: mem.New(mem.Config{}), NewID: newID, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
			Caller: func(req *http.Request) (choir.Role, bool) {
				role := choir.Role(req.Header.Get(roleHeader))
				return role, role != ""
			},
			MayCall: func(context.Context, choir.Role, choir.ID, choir.ID) error { return nil },
		}
		work := modelgw.Work{Run: id(t), Task: id(t), Allowed: &choir.ModelBudget{Calls: 1000}}
		cfg.Running = func(*http.Request) (modelgw.Work, error) { return work, nil }
		routes(&stub{stream: saysHello})(&cfg)
		gw := modelgw.New(memBooks{memLog: log}, cfg)
		defer gw.Close()
		gate, reading := make(chan struct{}), &atomic.Int64{}
		var answers sync.WaitGroup
		post := func(ctx context.Context, path, body string, gate chan struct{}, want int) {
			answers.Go(func() {
				req := httptest.NewRequestWithContext(ctx, http.MethodPost, path, &heldBody{Reader: strings.NewReader(body), gate: gate, reading: reading})
				w := httptest.NewRecorder()
				gw.ServeHTTP(w, req)
				if w.Code != want {
					t.Errorf("%s answers %d, not %d: %s", path, w.Code, want, w.Body)
				}
			})
		}
		const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
		for range 25 {
			for _, path := range programPaths[:3] {
				post(t.Context(), path, body, gate, http.StatusOK)
			}
		}
		left, leave := context.WithCancel(t.Context())
		post(left, programPaths[0], body, gate, choir.CodeCancelled.HTTPStatus())
		synctest.Wait()
		if n := reading.Load(); n != 4 {
			t.Errorf("%d bodies are read at a time", n)
		}
		leave()
		role := httptest.NewRequestWithContext(t.Context(), http.MethodPost, model.CallPath, strings.NewReader(`{}`))
		role.Header.Set(roleHeader, string(choir.RoleDirector))
		w := httptest.NewRecorder()
		gw.ServeHTTP(w, role) // a role does not wait for programs
		if w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusBadRequest {
			t.Errorf("the role is answered %d: %s", w.Code, w.Body)
		}
		close(gate)
		answers.Wait()
	})
}

func TestABodyThatDoesNotArriveIsRefused(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) {
		routes(&stub{stream: saysHello})(c)
		c.BodyTime = 50 * time.Millisecond
	})
	for _, path := range programPaths {
		if resp := r.sendPart(t, path, model.MaxCallBytes, `{"model":`); resp.StatusCode != http.StatusGatewayTimeout || !resp.Close {
			t.Errorf("%s answers %s", path, resp.Status)
		}
	}
}

// deadlines notes the read deadlines of a request.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

func TestACallMayTakeLongerThanItsBody(t *testing.T) {
	r := newRig(t, routes(&stub{stream: saysHello}))
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	r.gw.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(`{"model":"m","input":"hi"}`)))
	if n := len(w.set); w.Code != http.StatusOK || n < 2 || w.set[n-2].Before(began.Add(time.Minute)) || !w.set[n-1].IsZero() {
		t.Errorf("the answer is %d, and the deadlines were %v", w.Code, w.set)
	}
}
