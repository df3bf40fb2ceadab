package local_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

func TestSmoke(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d := local.New(local.Config{StateDir: filepath.Join(sandboxtest.DataDir(t), "local")})
	defer d.Close()
	t.Logf("%+v", d.Probe(ctx))
	for range 5 {
		t0 := time.Now()
		b, err := d.Create(ctx, sandboxtest.NewSpec(t, choir.RoleAssociate))
		if err != nil {
			t.Fatal(err)
		}
		t1 := time.Now()
		out, err := guest.NewClient(b.Dial).Run(ctx, guest.ExecSpec{Argv: []string{"/bin/sh", "-c", "id; cat /proc/self/status | grep -E 'Cap|Seccomp|NoNew'; ls -la / /etc /dev /run/choir; mount; env; pwd; ulimit -a"}}, nil, 1<<20)
		t2 := time.Now()
		t.Logf("%s %s %+v %v", out.Stdout, out.Stderr, out.Exit, err)
		t.Log(b.Usage(ctx))
		t.Log(string(b.Handle().State))
		if err := b.Destroy(ctx); err != nil {
			t.Fatal(err)
		}
		t.Log(t1.Sub(t0), t2.Sub(t1), time.Since(t2))
	}
}
