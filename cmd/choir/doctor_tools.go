package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/sandbox"
)

// hostTools are, by tool, the commands that print the folders of this machine's installation, one a
// line.
var hostTools = map[string][]string{
	sandbox.ToolCargo:  {"rustc", "--print", "sysroot"},
	sandbox.ToolGo:     {"go", "env", "GOROOT"},
	sandbox.ToolNode:   {"node", "-p", "path.dirname(path.dirname(process.execPath))"},
	sandbox.ToolPython: {"python3", "-c", "import sys; print(sys.prefix); print(sys.base_prefix)"},
	sandbox.ToolPytest: {"python3", "-c", "import pytest, sys; print(sys.prefix); print(sys.base_prefix)"},
	sandbox.ToolMake:   {"sh", "-c", `dirname "$(dirname "$(readlink -f "$(command -v make)")")"`},
	sandbox.ToolGit:    {"sh", "-c", `dirname "$(dirname "$(readlink -f "$(command -v git)")")"`},
}

// toolPackages are, by tool, the packages of Debian that bring it into /usr, where tasks find it.
var toolPackages = map[string]string{
	sandbox.ToolCargo: "cargo", sandbox.ToolGo: "golang-go", sandbox.ToolNode: "nodejs npm", sandbox.ToolPython: "python3",
	sandbox.ToolPytest: "python3-pytest", sandbox.ToolMake: "make", sandbox.ToolGit: "git",
}

// toolTimeout is the time limit of such a command.
const toolTimeout = 10 * time.Second

// suggestToolchains completes the checks of tools that tasks do not find: with the line of the
// configuration that makes those available which this machine has, and the command that installs
// the others.
func (a *app) suggestToolchains(ctx context.Context, checks []sandbox.Check) error {
	file, _, err := a.loadConfig()
	if err != nil {
		return err
	}
	host, err := a.host()
	if err != nil {
		return err
	}
	for i, c := range checks {
		if ask := hostTools[c.Name]; ask != nil && !c.OK {
			checks[i] = a.suggest(c, file, host, askHost(ctx, ask))
		}
	}
	return nil
}

// suggest returns the check of a tool that tasks do not find, completed for its folders on this
// machine.
func (a *app) suggest(c sandbox.Check, file config.Config, host config.Host, folders []string) sandbox.Check {
	if pkg := toolPackages[c.Name]; len(folders) == 0 && pkg != "" && sharesPrograms(file.Runtime.Mode) {
		return c.AddRemedy(sandbox.InstallWith("apt-get install -y " + pkg))
	}
	all := slices.Clone(file.Runtime.Toolchains)
	for _, dir := range folders {
		// What lies in /usr is there already.
		if !slices.Contains(all, dir) && dir != "/usr" {
			all = append(all, dir)
		}
	}
	if len(all) == len(file.Runtime.Toolchains) {
		if len(folders) > 0 && slices.Contains(all, folders[0]) {
			c = c.AddDetail(choir.Told{Text: a.sentence("tools.notReadable", "folder", folders[0])})
			c = c.AddRemedy(choir.Told{Text: a.sentence("tools.makeReadable", "folder", folders[0])})
		}
		return c
	}
	found := strings.Join(folders, a.sentence("and"))
	c = c.AddDetail(choir.Told{Text: a.sentence("tools.notShown", "folders", found)})
	file.Runtime.Toolchains = all
	if err := file.CheckToolchains(host); err != nil {
		c = c.AddDetail(choir.Told{Text: a.sentence("tools.cannotShow", "folders", found, "why", err)})
		return c
	}
	line := "runtime.toolchains = ["
	for i, dir := range all {
		if i > 0 {
			line += ", "
		}
		line += strconv.Quote(dir)
	}
	c = c.AddRemedy(choir.Told{Text: a.sentence("tools.configure", "line", line+"]")})
	return c
}

// sharesPrograms reports whether the sandboxes of a mode have the programs in this machine's /usr.
func sharesPrograms(mode string) bool { return mode != "microvm" && mode != "sprites" }

// askHost returns the absolute paths that a command prints, nil if it fails.
func askHost(ctx context.Context, argv []string) []string {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		return nil
	}
	var folders []string
	for line := range strings.Lines(string(out)) {
		if dir := strings.TrimSpace(line); filepath.IsAbs(dir) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}
