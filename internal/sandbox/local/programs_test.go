package local_test

import (
	"os/exec"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// programs are large programs that use more of the kernel than most, each with what it prints when it
// works.
var programs = []struct{ name, script, prints string }{
	{"node", `node -e 'new (require("worker_threads").Worker)("require(\"child_process\").execSync(\"ls\")", {eval: true}).on("exit", c => console.log("ended", c))'`, "ended 0\n"},
	{"python3", `python3 -c 'from multiprocessing import Pool, shared_memory as s; m = s.SharedMemory(create=True, size=9); m.close(); m.unlink(); print(sum(Pool(3).map(abs, range(-9, 0))))'`, "45\n"},
	{"java", `printf 'public class A { public static void main(String[] a) throws Exception { System.gc(); System.out.println(new ProcessBuilder("true").start().waitFor()); } }' >A.java && java A.java`, "0\n"},
	{"gdb", `printf 'int main(void) { return 0; }' >g.c && gcc -g g.c -o g && gdb -batch -ex 'break main' -ex run -ex 'info breakpoints' ./g 2>&1 | grep -o 'already hit 1 time'`, "already hit 1 time\n"},
	{"strace", `strace -f -c -o counts sh -c 'ls / >/dev/null' && grep -o execve counts`, "execve\n"},
	{"valgrind", `valgrind true 2>&1 | grep -o '0 errors'`, "0 errors\n"},
	{"git", `git init -q r && cd r && echo 1 >f && git add f && git -c user.name=x -c user.email=x@x commit -qm x && git gc -q --aggressive && git fsck && git worktree add -q ../w && ls ../w`, "f\n"},
	{"sqlite3", `sqlite3 d 'pragma journal_mode=wal; create table t(x); insert into t values (1), (2); select sum(x) from t; vacuum'`, "wal\n3\n"},
	{"tmux", `mkfifo ended && tmux -S socket new -d 'echo on a terminal >ended' && cat ended && tmux -S socket kill-server`, "on a terminal\n"},
	{"vim", `vim -es -u NONE -c 'call setline(1, "written")' -c 'w v' -c 'q!'; cat v`, "written\n"},
	{"postgres", `initdb -D pg -A trust >log && pg_ctl -D pg -o "-k $PWD -h ''" -w start >>log && psql -h "$PWD" -d postgres -Atc 'select 6 * 7' && pg_ctl -D pg -w stop >>log || cat log`, "42\n"},
	{"chromium", `echo '<p id=x></p><script>x.textContent = 6 * 7</script>' >p.html && chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/p.html" 2>log | grep -o '>42<' || tail log`, ">42<\n"},
}

// TestLargeProgramsRun runs them in a sandbox, where the filter lets only those calls through that
// programs need.
func TestLargeProgramsRun(t *testing.T) {
	t.Parallel()
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	b, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	client := guest.NewClient(b.Dial)
	attached, err := client.Attach(t.Context()) // a sandbox without a control plane ends
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close()
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath(p.name); err != nil {
				t.Skip(err)
			}
			out, err := client.Run(t.Context(), guest.ExecSpec{Argv: []string{"bash", "-c", "mkdir -p /tmp/" + p.name + " && cd /tmp/" + p.name + " && " + p.script}}, nil, 1<<16)
			if err != nil || !strings.HasSuffix(string(out.Stdout), p.prints) {
				t.Errorf("%v, %+v: %s%s", err, out.Exit, out.Stdout, out.Stderr)
			}
		})
	}
}
