package modelgw_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// agentProgram is an agent program from npm that is asked to change a file.
type agentProgram struct {
	name string
	bin  string // below node_modules of tools/agents
	args []string
	// configure writes the program's configuration below home and returns its environment.
	configure func(t *testing.T, home, url string) []string
}

var agentPrograms = []agentProgram{
	{
		name: "claude", bin: "@anthropic-ai/claude-code-linux-x64/claude", args: []string{"-p", "--permission-mode", "acceptEdits"},
		configure: func(_ *testing.T, home, url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=choir", "CLAUDE_CONFIG_DIR=" + home + "/claude", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
		},
	},
	{
		name: "codex", bin: ".bin/codex", args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
		configure: func(t *testing.T, home, url string) []string {
			writeFile(t, home+"/codex/config.toml", "model = \"gpt-5\"\nmodel_provider = \"choir\"\n[model_providers.choir]\nname = \"choir\"\nbase_url = \""+url+"/openai/v1\"\nenv_key = \"CHOIR_KEY\"\nwire_api = \"responses\"\n")
			return []string{"CODEX_HOME=" + home + "/codex", "CHOIR_KEY=choir"}
		},
	},
	{
		name: "opencode", bin: "opencode-linux-x64-baseline/bin/opencode", args: []string{"run", "--model", "choir/associate"},
		configure: func(t *testing.T, home, url string) []string {
			writeFile(t, home+"/.config/opencode/opencode.json", `{"autoupdate":false,"share":"disabled","permission":"allow","provider":{"choir":{"npm":"@ai-sdk/openai-compatible","name":"choir","options":{"baseURL":"`+url+`/openai/v1","apiKey":"choir"},"models":{"associate":{"name":"associate"}}}}}`)
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "XDG_CONFIG_HOME=" + home + "/.config", "XDG_DATA_HOME=" + home + "/.local/share"}
		},
	},
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fileWriter is a model that writes a file with the tool that a program has for it, and then says so.
func fileWriter(path, text string) *stub {
	quoted := func(v string) string { raw, _ := json.Marshal(v); return string(raw) }
	shell := quoted("printf '%s' '" + text + "' > '" + path + "'")
	inputs := map[string]string{
		"Write":        `{"file_path":` + quoted(path) + `,"content":` + quoted(text) + `}`,
		"write":        `{"filePath":` + quoted(path) + `,"content":` + quoted(text) + `}`,
		"exec_command": `{"cmd":` + shell + `}`,
		"shell":        `{"command":["sh","-c",` + shell + `]}`,
	}
	return &stub{stream: func(_ context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		r := model.Response{Model: "stub-1", Stop: model.StopEnd, Usage: model.Usage{Input: 100, Output: 20, CacheRead: 60}}
		last := req.Messages[len(req.Messages)-1]
		tool := slices.IndexFunc(req.Tools, func(t model.ToolDef) bool { return inputs[t.Name] != "" })
		if tool < 0 || slices.ContainsFunc(last.Content, func(b model.Block) bool { return b.Kind == model.ToolResult }) {
			on(model.Delta{Text: "It is written."})
			r.Content = []model.Block{{Kind: model.Text, Text: "It is written."}}
			return r, nil
		}
		name := req.Tools[tool].Name
		r.Stop = model.StopTool
		r.Content = []model.Block{{Kind: model.ToolCall, CallID: "call_write", Tool: name, Input: json.RawMessage(inputs[name])}}
		on(model.Delta{Tool: name})
		return r, nil
	}}
}

// TestAgentProgramsWorkThroughTheGateway runs real agent programs, at the versions of tools/agents, against the
// gateway: each changes a file by its own tools, and its calls are in the log. The part agents of make soak installs them.
func TestAgentProgramsWorkThroughTheGateway(t *testing.T) {
	installed := os.Getenv("CHOIR_TEST_AGENTS")
	if installed == "" {
		t.Skip("CHOIR_TEST_AGENTS names no folder with Claude Code, Codex and OpenCode: PART=agents make soak installs them")
	}
	for _, p := range agentPrograms {
		t.Run(p.name, func(t *testing.T) { p.run(t, filepath.Join(installed, "node_modules", p.bin)) })
	}
}

func (p agentProgram) run(t *testing.T, bin string) {
	if _, err := os.Stat(bin); err != nil {
		t.Fatal("it is not installed: ", err)
	}
	home, work := t.TempDir(), t.TempDir()
	file, text := filepath.Join(work, "hello.txt"), "changed by "+p.name
	m := fileWriter(file, text)
	r := newRig(t, routes(m))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append(slices.Clone(p.args), "Write "+text+" into hello.txt.")...)
	cmd.Dir = work
	// Nothing but the gateway is reached: the proxy is not there.
	cmd.Env = append(p.configure(t, home, r.http.URL), "PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+t.TempDir(), "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(got)) != text {
		t.Errorf("the file has %q: %v\n%s", got, err, out)
	}
	if !strings.Contains(string(out), "It is written.") {
		t.Errorf("the answer is not in its output:\n%s", out)
	}
	r.gw.Close() // all calls are recorded
	returned := r.log.of(choir.TypeModelReturned)
	if len(returned) < 2 || len(returned) != m.calls() {
		t.Errorf("the log has %d answers to %d calls", len(returned), m.calls())
	}
	for _, e := range returned {
		if u := payload[choir.ModelReturned](t, e); u.Caller != "tool" || u.Code != "" || u.InputTokens != 100 || u.OutputTokens != 20 || u.CachedTokens != 60 {
			t.Errorf("model.returned is %+v", u)
		}
	}
	t.Logf("%d calls, %d bytes said", m.calls(), len(out))
}
