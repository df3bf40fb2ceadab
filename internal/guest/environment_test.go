package guest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestProgramsLoadNoLocaleButUTF8 asks a program of this machine what the environment of programs
// makes of it: text is UTF-8, and the rest is C's, which is built into every program. Files of the
// locale for each of its twelve parts made half of the system calls of a small program's start.
func TestProgramsLoadNoLocaleButUTF8(t *testing.T) {
	env := Environment(nil, "/nonexistent")
	for _, argument := range []string{"charmap", ""} {
		cmd := exec.Command("locale", strings.Fields(argument)...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if argument == "charmap" && string(out) != "UTF-8\n" {
			t.Errorf("the character set is %q", out)
		}
		for line := range strings.Lines(string(out)) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			if value = strings.Trim(value, `"`); ok && value != "" && value != "C" && value != "POSIX" && name != "LC_CTYPE" {
				t.Errorf("%s is %s", name, value)
			}
		}
	}
}
