package local_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// BenchmarkTTI makes a sandbox and runs true in it through the API, in turn
// with bare bubblewrap running true with the same folders.
func BenchmarkTTI(b *testing.B) {
	d := local.New(local.Config{StateDir: filepath.Join(sandboxtest.DataDir(b), "local")})
	defer d.Close()
	spec := sandboxtest.NewSpec(b, choir.RoleAssociate)
	var ours, peer, create, destroy []time.Duration
	for b.Loop() {
		c, o, x := tti(b, d, spec)
		create, ours, destroy = append(create, c), append(ours, o), append(destroy, x)
		peer = append(peer, runBare(b, d, spec))
	}
	report := func(name string, d []time.Duration) float64 {
		slices.Sort(d)
		ms := float64(d[len(d)/2].Microseconds()) / 1000
		b.ReportMetric(ms, name)
		return ms
	}
	report("create-ms", create)
	report("destroy-ms", destroy)
	b.ReportMetric(report("ours-ms", ours)/report("bare-ms", peer), "ratio")
}

func tti(b *testing.B, d sandbox.Driver, spec sandbox.Spec) (create, first, destroy time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	began := time.Now()
	box, err := d.Create(ctx, spec)
	if err != nil {
		b.Fatal(err)
	}
	create = time.Since(began)
	out, err := guest.NewClient(box.Dial).Run(ctx, guest.ExecSpec{Argv: []string{"/usr/bin/true"}}, nil, 1024)
	first = time.Since(began)
	if err != nil || out.Exit.Code != 0 {
		b.Fatal(out, err)
	}
	began = time.Now()
	if err := box.Destroy(ctx); err != nil {
		b.Fatal(err)
	}
	return create, first, time.Since(began)
}

func runBare(b *testing.B, d *local.Driver, spec sandbox.Spec) time.Duration {
	cmd, err := d.Bare(spec, "/usr/bin/true")
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
