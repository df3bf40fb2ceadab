package host

import (
	"context"
	"strings"
	"time"

	"choiros/internal/sandbox"
)

// toolTimeout is the limit on all programs that print their versions.
const toolTimeout = 60 * time.Second

// askTools prints a line for each program that is found: its name and what it says of its
// version.
const askTools = `say() { name=$1; shift; if out=$("$@" 2>/dev/null); then printf '%s\t%s\n' "$name" "$(printf %s "$out" | head -n 1)"; fi; }
say cargo cargo --version; say go go version; say node node --version; say python3 python3 --version
say pytest python3 -c 'import pytest; print(pytest.__version__)'; say make make --version; say git git --version`

// Tools asks each program of verification for its version in one sandbox, with the search
// path of an Associate, see sandbox.Toolbox. run runs a program in a sandbox and returns its
// output.
func Tools(ctx context.Context, path string, run func(ctx context.Context, argv ...string) (string, error)) []sandbox.Check {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	out, err := run(ctx, "/usr/bin/env", "-i", "PATH="+path, "HOME=/tmp", "/bin/sh", "-c", askTools)
	if err != nil {
		return NoTools(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			found[name] = version
		}
	}
	var checks []sandbox.Check
	for _, name := range []string{
		sandbox.ToolCargo, sandbox.ToolGo, sandbox.ToolNode, sandbox.ToolPython, sandbox.ToolPytest, sandbox.ToolMake, sandbox.ToolGit,
	} {
		version, ok := found[name]
		checks = append(checks, sandbox.CheckTool(name, version, ok))
	}
	return checks
}

// NoTools returns the one check of a machine on which nothing can be looked for.
func NoTools(err error) []sandbox.Check {
	return []sandbox.Check{sandbox.CheckNoTools(err)}
}
