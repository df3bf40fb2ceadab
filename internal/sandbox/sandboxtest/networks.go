package sandboxtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// networkTools are the commands that list the interfaces, routes and rules of this machine. A command
// that is not there, or may not, lists nothing.
var networkTools = [][]string{
	{"ip", "-o", "link", "show"},
	{"ip", "-o", "route", "show", "table", "all"},
	{"ip", "-6", "-o", "route", "show", "table", "all"},
	{"ip", "rule", "show"},
	{"ip", "netns", "list"},
	{"iptables-save"},
	{"ip6tables-save"},
	{"nft", "list", "ruleset"},
}

// networkOf returns the interfaces, routes, rules and named namespaces of networks that this machine
// has, a line each.
func networkOf() (lines []string) {
	for _, argv := range networkTools {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err != nil {
			continue // as networkTools says
		}
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ":") { // a time, or counters
				lines = append(lines, strings.Join(argv, " ")+": "+strings.TrimSpace(line))
			}
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo") // as above
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, " nsfs ") { // a namespace with a name
			lines = append(lines, "mount: "+strings.TrimSpace(line))
		}
	}
	return lines
}

// newNetworks returns the lines of networkOf that were not there before.
func newNetworks(before []string) (lines []string) {
	for _, line := range networkOf() {
		if !slices.Contains(before, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
