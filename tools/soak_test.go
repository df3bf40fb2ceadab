package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// soak runs soak.sh with a go and a crash matrix that say what a part of the soak
// would.
func soak(t *testing.T, fuzz, race, crash string, env ...string) (lines []string, ok bool) {
	t.Helper()
	m := newMachine(t, "0")
	for _, real := range []string{"awk", "date", "mkdir"} {
		path, err := exec.LookPath(real)
		if err != nil {
			t.Skipf("%s is not on this machine", real)
		}
		if err := os.Symlink(path, filepath.Join(m.dir, real)); err != nil {
			t.Fatal(err)
		}
	}
	m.stub(t, "npm", "true")
	m.stub(t, "cp", "true")
	m.stub(t, "go", `case "$*" in
"test -list"*) echo FuzzOne; echo FuzzTwo; echo "ok  	a/b	0.1s"; echo "ok  	a/c	0.1s" ;;
*"-fuzz ^FuzzTwo"*) `+fuzz+` ;;
*-race*) `+race+` ;;
esac`)
	script, err := os.ReadFile("soak.sh")
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(t.TempDir(), "tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	shebang := "#!" + filepath.Join(m.dir, "sh") + "\n"
	for name, text := range map[string]string{"soak.sh": string(script), "crash.sh": shebang + crash + "\n", "vm.sh": shebang + "true\n"} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(m.dir, "sh"), filepath.Join(tools, "soak.sh"))
	cmd.Env = append(env, "PATH="+m.dir, "FUZZTIME=2s", "ROUNDS=1", "ONCE="+filepath.Join(m.dir, "once"))
	out, err := cmd.CombinedOutput()
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err == nil
}

func TestSoakEndsWithItsSum(t *testing.T) {
	for _, c := range []struct {
		name, fuzz, race, crash, want string
		ok                            bool
	}{
		{"passes", "true", "true", "true", "soak: passed, 2 fuzz targets for 2s each", true},
		{"a finding", "echo Failing input written; exit 1", "true", "true", "soak: FAILED at fuzz a/b FuzzTwo, 1 fuzz targets", false},
		{"the race in go's fuzzing", `if [ ! -e "$ONCE" ]; then : > "$ONCE"; echo context deadline exceeded; exit 1; fi`, "true", "true", "soak: passed", true},
		{"again and again", "echo context deadline exceeded; exit 1", "true", "true", "soak: FAILED at fuzz a/b FuzzTwo", false},
		{"a failing test", "true", "exit 1", "true", "soak: FAILED at the tests with the race detector, 2 fuzz targets", false},
		{"a fault that loses something", "true", "true", "exit 1", "soak: FAILED at the crash matrix at random moments, 2 fuzz targets", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, ok := soak(t, c.fuzz, c.race, c.crash)
			if last := lines[len(lines)-1]; ok != c.ok || !strings.HasPrefix(last, c.want) {
				t.Errorf("%t, the last line is %q, want %q", ok, last, c.want)
			}
		})
	}
}

// TestSoakRunsThePartsThatAreNamed has each part fail that is not named.
func TestSoakRunsThePartsThatAreNamed(t *testing.T) {
	for _, c := range []struct {
		part, fuzz, race, crash, want string
		ok                            bool
	}{
		{"race", "exit 1", "true", "exit 1", "soak: passed, 0 fuzz targets for 2s each, 1 rounds of all tests wanted, parts: race, ", true},
		{"fuzz", "true", "exit 1", "exit 1", "soak: passed, 2 fuzz targets", true},
		{"large cluster steps", "exit 1", "exit 1", "exit 1", "soak: passed, 0 fuzz targets", true},
		{"race random", "exit 1", "true", "exit 1", "soak: FAILED at the crash matrix at random moments", false},
		{"everything", "true", "true", "true", "soak: FAILED at reading PART", false},
	} {
		t.Run(c.part, func(t *testing.T) {
			lines, ok := soak(t, c.fuzz, c.race, c.crash, "PART="+c.part)
			if last := lines[len(lines)-1]; ok != c.ok || !strings.HasPrefix(last, c.want) {
				t.Errorf("%t, the last line is %q, want %q", ok, last, c.want)
			}
		})
	}
}
