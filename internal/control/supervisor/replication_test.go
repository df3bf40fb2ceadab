package supervisor_test

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/bus/cluster"
	"choiros/internal/bus/cluster/clustertest"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/sandbox"
)

// replicated is a configuration whose logs are copied to a cluster.
func replicated(t *testing.T, data string, to cluster.Config) supervisor.Config {
	t.Helper()
	cfg := controltest.Config(t, data)
	cfg.Cluster = to
	return cfg
}

func say(t *testing.T, c *computer.Computer) error {
	t.Helper()
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d, err := choir.NewDraft(id, choir.PromptSubmitted{Text: "keep this"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Store().Append(t.Context(), choir.RoleShell, d.ForRun(id, ""))
	return err
}

// session opens a data folder, says something n times, and closes it in order.
func session(t *testing.T, cfg supervisor.Config, n int) (id choir.ID, checks []sandbox.Check, err error) {
	t.Helper()
	sys, err := supervisor.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := sys.Computers()[0]
	for range n {
		if err := say(t, c); err != nil {
			return c.ID(), nil, err
		}
	}
	r, err := c.Verifier().Verify(t.Context())
	if err != nil || r.Cluster == nil || r.Cluster.Code != "" || r.Cluster.Events != r.Events {
		t.Errorf("verified against the cluster: %+v %+v, %v", r, r.Cluster, err)
	}
	return c.ID(), sys.Doctor(t.Context()).Checks, nil
}

// dump is the whole log and all that follows from it.
func dump(t *testing.T, cfg supervisor.Config) (name, content string) {
	t.Helper()
	r, err := supervisor.OpenReader(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := r.Computers()[0]
	var all bytes.Buffer
	if _, err := c.Store().Dump(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return c.Name(), all.String()
}

func TestALostDataFolderComesBackFromTheCluster(t *testing.T) {
	to := clustertest.Start(t, 3)
	lost, found := replicated(t, newData(t), to), replicated(t, newData(t), to)
	id, checks, err := session(t, lost, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"copy of My computer", "cluster"} {
		if i := slices.IndexFunc(checks, func(c sandbox.Check) bool { return c.Name == name }); i < 0 || !checks[i].OK {
			t.Errorf("doctor does not say that the %s is well: %+v", name, checks)
		}
	}
	unknown := "0198aaaa" + string(id[8:])
	if _, _, err := supervisor.RestoreFromCluster(t.Context(), found, choir.ID(unknown)); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("restoring an unknown computer: %v", err)
	}
	name, last, err := supervisor.RestoreFromCluster(t.Context(), found, id)
	if err != nil {
		t.Fatal(err)
	}
	wantName, want := dump(t, lost)
	gotName, got := dump(t, found)
	if got != want || name != wantName || gotName != wantName || last.Seq < 21 {
		t.Errorf("%q came back as %q with %d events; the logs are the same: %v", wantName, gotName, last.Seq, got == want)
	}
	if _, _, err := supervisor.RestoreFromCluster(t.Context(), found, id); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("restoring over a data folder: %v", err)
	}
	if _, _, err := session(t, found, 3); err != nil {
		t.Errorf("the restored log does not go on: %v", err)
	}
	if _, _, err := session(t, lost, 1); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("the old folder, which the copy is ahead of, is told %v", err)
	}
}

func TestWithoutItsClusterAComputerSaysSo(t *testing.T) {
	nowhere := cluster.Config{Servers: []string{"nats://127.0.0.1:1"}, Timeout: time.Second}
	p := controltest.StartWith(t, replicated(t, newData(t), nowhere))
	if why := fails(t, p, "replication", func() {}); !strings.Contains(why, "not known to be replicated") {
		t.Errorf("health says %q", why)
	}
	res, body := p.AsCLI(http.MethodPost, p.Base()+"/prompts", map[string]string{"text": "hello"})
	if problem := p.Problem(res, body); problem.Code != choir.CodeUnavailable || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a prompt is answered with %d %+v", res.StatusCode, problem)
	}
	checks := p.System.Doctor(t.Context()).Checks
	for _, name := range []string{"copy of My computer", "cluster"} {
		if i := slices.IndexFunc(checks, func(c sandbox.Check) bool { return c.Name == name }); i < 0 || checks[i].OK || checks[i].Detail == "" {
			t.Errorf("doctor does not say that the %s fails: %+v", name, checks)
		}
	}
}
