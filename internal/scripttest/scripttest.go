// Package scripttest runs checks that are written in another language, as tests of Go: a
// maker's own client against a server of ours, for instance.
package scripttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// Run runs a program that prints a line of JSON for each check, with its name, what failed
// and how long it took in ms, makes each a subtest, and returns their number. A program that
// fails ends the test.
func Run(t *testing.T, cmd *exec.Cmd) (ran int) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); ran++ {
		var c struct {
			Name, Failed string
			MS           int
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Logf("%d ms", c.MS)
			if c.Failed != "" {
				t.Error(c.Failed)
			}
		})
	}
	return ran
}
