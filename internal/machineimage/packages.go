package machineimage

import (
	"context"
	"maps"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// base are the packages that every image has, with all that they depend on.
var base = []string{
	"base-files", "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "grep", "sed", "tar", "gzip",
	"mawk", "util-linux", "procps", "hostname", "libc-bin", "ca-certificates", "git", "python3", "nodejs",
}

// welcome are the packages that an image has if this machine has them.
var welcome = []string{"make", "python3-pytest", "npm", "less", "patch", "file", "curl", "unzip", "xz-utils", "bzip2", "python3-venv", "python3-pip"}

// pkg is an installed package.
type pkg struct {
	version  string
	provides []string
	depends  [][]string // of each list one is needed
}

type packages map[string]pkg

// installed returns the packages of this machine, by name without the architecture.
func installed(ctx context.Context, environ []string) (packages, error) {
	const format = "${Package}\t${db:Status-Status}\t${Version}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
	out, err := output(ctx, environ, "an image is made of Debian packages: build it on a machine with dpkg", "dpkg-query", "-W", "-f", format)
	if err != nil {
		return nil, err
	}
	all := packages{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 || f[1] != "installed" {
			continue
		}
		p := pkg{version: f[2]}
		for _, alternatives := range relations(f[3]) {
			p.provides = append(p.provides, alternatives...)
		}
		p.depends = relations(f[4])
		all[f[0]] = p
	}
	return all, nil
}

// relations parses a field such as "libc6 (>= 2.36), awk | mawk:any" to names.
func relations(field string) [][]string {
	var out [][]string
	for part := range strings.SplitSeq(field, ",") {
		var names []string
		for one := range strings.SplitSeq(part, "|") {
			name, _, _ := strings.Cut(strings.TrimSpace(one), " ")
			name, _, _ = strings.Cut(name, ":")
			if name != "" {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	return out
}

// closure returns the names of the base's and of further packages with all that they
// depend on, sorted. A package that is not installed is code unavailable.
func (all packages) closure(more []string) ([]string, error) {
	var missing []string
	wanted := slices.Concat(base, more)
	for _, name := range wanted {
		if _, ok := all[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, choir.Refuse("image.packages", choir.ReasonImagePackages, choir.TextOf("missing", strings.Join(missing, ", ")), choir.TextOf("command", strings.Join(missing, " ")))
	}
	for _, name := range welcome {
		if _, ok := all[name]; ok {
			wanted = append(wanted, name)
		}
	}
	seen := map[string]bool{}
	for len(wanted) > 0 {
		name := wanted[len(wanted)-1]
		wanted = wanted[:len(wanted)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, alternatives := range all[name].depends {
			// What is not installed is not needed here: dpkg let it be.
			for _, a := range alternatives {
				wanted = append(wanted, all.providers(a)...)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// providers returns the installed packages with a name or that provide it.
func (all packages) providers(name string) []string {
	if _, ok := all[name]; ok {
		return []string{name}
	}
	var out []string
	for other, p := range all {
		if slices.Contains(p.provides, name) {
			out = append(out, other)
		}
	}
	return out
}
