package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/model/wiretest"
)

func TestModelTestAsksEachModelInForceOnce(t *testing.T) {
	t.Parallel()
	sees := scripted(t, `{"rules":[{"match":{"tool":""},"respond":{"tool_calls":[{"name":"report_colour","input":{"colour":"red"}}]}}]}`)
	gone := wiretest.NewServer(wiretest.OpenAI, wiretest.Step{Status: 401, Message: "who are you"})
	t.Cleanup(gone.Close)
	m := newMachine(t, "")
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("sk-0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.configure(fmt.Sprintf(`
[[models.role]]
role = "director"
models = ["sees/claude-sonnet-4-5", "gone/gpt-5"]
[[models.role]]
role = "associate"
models = ["sees/claude-sonnet-4-5"]
[[models.provider]]
name = "sees"
kind = "anthropic"
base_url = %q
key_file = %q
[[models.provider]]
name = "gone"
kind = "openai"
base_url = %q
key_file = %q
`, sees.URL, key, gone.URL, key))
	r := m.up()
	r.healthy()
	out := m.run("model", "test")
	for _, want := range []string{"sees/claude-sonnet-4-5 (director, associate)\n  tools     works\n", "images    works\n  thinking  no: it told none\n", "gone/gpt-5 (director)\n  failed: ", "who are you"} {
		if !strings.Contains(out.out, want) {
			t.Errorf("it lacks %q:\n%s", want, out.out)
		}
	}
	if out.code != 1 || len(sees.Requests()) != 1 {
		t.Errorf("exit code %d after %d requests: %s", out.code, len(sees.Requests()), out.errOut)
	}
	if one := m.run("model", "test", "sees/claude-sonnet-4-5"); one.code != 0 || strings.Contains(one.out, "gone/") {
		t.Errorf("of one model it says %d: %s%s", one.code, one.out, one.errOut)
	}
}
