package main

import (
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// checked is a project whose own tests tell good from bad: writing good to file
// makes them pass, writing bad makes them fail.
type checked struct {
	name, needs     string
	slow            bool // only in a soak: the sandbox compiles the standard library
	project         files
	file, good, bad string
}

var checkedProjects = []checked{
	{
		"make", "make", false, files{"Makefile": "test:\n\t@grep -q good value\n", "value": "none\n"},
		"value", "good\n", "bad\n",
	},
	{
		"node", "node", false, files{
			"package.json":  `{"name":"node-fixture","version":"1.0.0","scripts":{"test":"node --test"}}` + "\n",
			"value.js":      "module.exports = 0;\n",
			"value.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\ntest('value', () => assert.strictEqual(require('./value.js'), 1));\n",
		},
		"value.js", "module.exports = 1;\n", "module.exports = 2;\n",
	},
	{
		"go", "go", true, files{
			"go.mod":        "module fixture\n\ngo 1.21\n",
			"value.go":      "package fixture\n\nfunc value() int { return 0 }\n",
			"value_test.go": "package fixture\n\nimport \"testing\"\n\nfunc TestValue(t *testing.T) {\n\tif value() != 1 {\n\t\tt.Fatal(value())\n\t}\n}\n",
		},
		"value.go", "package fixture\n\nfunc value() int { return 1 }\n", "package fixture\n\nfunc value() int { return 2 }\n",
	},
	{
		"python", "python3", false, files{
			"value.py":      "VALUE = 0\n",
			"test_value.py": "import unittest\nimport value\n\n\nclass Value(unittest.TestCase):\n    def test_value(self):\n        self.assertEqual(value.VALUE, 1)\n\n\nif __name__ == '__main__':\n    unittest.main()\n",
		},
		"value.py", "VALUE = 1\n", "VALUE = 2\n",
	},
}

// TestVerificationDecides brings projects in whose own tests fail and pass. A
// failing one ends failed, and the tree is what it was, byte for byte, as the
// host sees it; a passing one is committed.
func TestVerificationDecides(t *testing.T) {
	o := openOffice(t)
	for _, p := range checkedProjects {
		if p.slow && !soaking() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			o := o.in(t)
			if has := o.inside(t, "command -v "+p.needs); has != 0 {
				t.Skip(p.needs + " is not in the sandbox: install it in a system folder of this machine")
			}
			o.add(t, p.name, p.project)
			was := exact(t, o.workspace())
			r := o.ends(t, writeTask(p, p.bad), 1, choir.StatusFailed, choir.ResultVerifyFailed)
			if r.Verify.Status != choir.VerifyFail || r.Verify.Log == "" || r.Diff == nil || !strings.Contains(r.Diff.Content, p.file) {
				t.Errorf("verification %s: %s\n%v", r.Verify.Status, r.Verify.Log, r.Diff)
			}
			sameTree(t, was, exact(t, o.workspace()))
			r = o.ends(t, writeTask(p, p.good), 0, choir.StatusOK, "")
			if r.Verify.Status != choir.VerifyPass || r.Checkpoint == nil || !slices.Equal(paths(r.FilesChanged), []string{"modified workspace/" + p.name + "/" + p.file}) {
				t.Fatalf("verification %s (%s), checkpoint %v, changed %q", r.Verify.Status, r.Verify.Log, r.Checkpoint, paths(r.FilesChanged))
			}
			if got := o.gitAt(p.name, "show", *r.Checkpoint+":"+p.file); got != p.good {
				t.Errorf("the checkpoint has %q", got)
			}
		})
	}
	t.Run("plain", o.verifyPlain)
}

func writeTask(p checked, content string) string {
	return `{"kind":"edit_repo","repo":"` + p.name + `","instruction":"Write the value.","commands":[{"shell":"printf '%s' \"$CONTENT\" > ` + p.file + `","env":[{"name":"CONTENT","value":` + quoteJSON(content) + `}]}]}`
}

// inside runs a command in the sandbox and returns its exit code.
func (o *office) inside(t *testing.T, shell string) int {
	t.Helper()
	r, _ := o.task(t, `{"kind":"run","instruction":"Look.","verify_profile":{"mode":"none"},"commands":[{"shell":`+quoteJSON(shell)+`}]}`)
	if len(r.CommandsRun) != 1 {
		t.Fatalf("%s: %+v", shell, r)
	}
	return r.CommandsRun[0].ExitCode
}

// verifyPlain is a project without tests: unknown, and never shown as verified,
// unless the task brings its own check.
func (o *office) verifyPlain(t *testing.T) {
	o = o.in(t)
	o.add(t, "text", files{"a.txt": "a\n"})
	r := o.ends(t, shellTask("edit_repo", "text", "echo b >> a.txt", ""), 0, choir.StatusOK, "")
	if r.Verify.Status != choir.VerifyUnknown || r.Checkpoint == nil {
		t.Errorf("verification %s, checkpoint %v", r.Verify.Status, r.Checkpoint)
	}
	events := o.c.log(t)
	for _, e := range events {
		if e.Type != "checkpoint.created" || e.Task != r.TaskID {
			continue
		}
		p, err := choir.DecodePayload(e.Type, e.Payload)
		if err != nil || p.(*choir.CheckpointCreated).Verified {
			t.Errorf("the checkpoint claims to be verified: %v", err)
		}
	}
	check := `,"verify_profile":{"mode":"smoke","commands":[{"shell":"grep -qx c a.txt"}]}`
	was := exact(t, o.workspace())
	o.ends(t, shellTask("edit_repo", "text", "echo d >> a.txt", check), 1, choir.StatusFailed, choir.ResultVerifyFailed)
	sameTree(t, was, exact(t, o.workspace()))
	if r = o.ends(t, shellTask("edit_repo", "text", "echo c >> a.txt", check), 0, choir.StatusOK, ""); r.Verify.Status != choir.VerifyPass {
		t.Errorf("verification %s", r.Verify.Status)
	}
}

// TestCheckpointByHand commits what a person left uncommitted, and neither what
// git or .choirignore ignores nor what looks like a key.
func TestCheckpointByHand(t *testing.T) {
	o := openOffice(t)
	source := files{"a.txt": "a\n", ".gitignore": "*.log\n", ".choirignore": "big/\n"}.repo(t, "hand")
	files{
		"b.txt": "b\n", "noise.log": "x\n", "big/data": "x\n", ".env": "SECRET=1\n", "id_rsa": "x\n",
		"note.txt": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
	}.writeTo(t, source)
	o.must("repo", "add", source)
	out := o.must("checkpoint", "--repo", "hand", "-m", "my words")
	if !strings.Contains(out, "made 1 commit") {
		t.Errorf("it says %q", out)
	}
	if got := o.gitAt("hand", "log", "-1", "--format=%s"); got != "my words\n" {
		t.Errorf("the subject is %q", got)
	}
	if got := o.gitAt("hand", "show", "--format=", "--name-only", "HEAD"); got != "b.txt\n" {
		t.Errorf("committed %q", got)
	}
	head := o.gitAt("hand", "rev-parse", "HEAD")
	if out = o.must("checkpoint", "--repo", "hand"); !strings.Contains(strings.ToLower(out), "nothing to commit") {
		t.Errorf("with nothing to commit it says %q", out)
	}
	if again := o.gitAt("hand", "rev-parse", "HEAD"); again != head {
		t.Errorf("with nothing to commit HEAD moved to %s", again)
	}
	if r := o.run("checkpoint", "--repo", "nowhere"); r.code == 0 {
		t.Errorf("a project that is not there: %s", r.out)
	}
}
