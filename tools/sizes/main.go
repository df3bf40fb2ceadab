// Command sizes reports how large files, functions and interfaces are, beside
// the numbers of the house style, and fails on the hard limits only.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	flag.Parse()
	ok, err := run(*root, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// The hard limits: nobody reads a file that long, and init starts with every
// sandbox. Init also resolves names and boots virtual machines.
const (
	maxFileLines = 800
	maxInitBytes = 9 << 19
)

func run(root string, out io.Writer) (ok bool, err error) {
	sources, err := readSources(root)
	if err != nil {
		return false, err
	}
	r := measure(sources)
	fmt.Fprintf(out, "%-28s %8s %8s %8s   %s\n", "", "median", "p95", "max", "ours")
	row := func(name string, values []int, want string) {
		fmt.Fprintf(out, "%-28s %8d %8d %8d   %s\n", name, quantile(values, 0.5), quantile(values, 0.95), quantile(values, 1), want)
	}
	row("Go file, lines", r.goFiles, "about 100 / below 500 / 800")
	row("Go function, lines", r.functions, "about 10 / below 60")
	row("interface, methods", r.interfaces, "1 to 8")
	row("UI file, lines", r.uiFiles, "components under 150")
	fmt.Fprintf(out, "%-28s %s   all\n", "exports documented", percent(r.documented, r.exported))
	fmt.Fprintf(out, "%-28s %s   about 100 %%\n", "Go test lines to code lines", percent(r.testLines, r.codeLines))
	fmt.Fprintf(out, "%-28s %s   about 8 %%\n", "docs lines to code lines", percent(r.docLines+r.generatedDocLines, r.codeLines))
	fmt.Fprintf(out, "%-28s %s\n", "  of them by hand", percent(r.docLines, r.codeLines))
	for _, f := range r.undocumented {
		fmt.Fprintln(out, "no comment:", f)
	}
	ok = true
	for _, s := range sources {
		if s.lines > maxFileLines && !s.generated {
			ok = false
			fmt.Fprintf(out, "too long: %s has %d lines, the limit is %d: give each noun or verb its own file\n", s.path, s.lines, maxFileLines)
		}
	}
	return binaries(root, out) && ok, nil
}

// binaries reports the guest binaries that are built.
func binaries(root string, out io.Writer) (ok bool) {
	ok = true
	for _, name := range []string{"choir-init", "choir-director", "choir-associate"} {
		info, err := os.Stat(filepath.Join(root, "internal", "guestbin", "bin", name))
		if err != nil {
			continue // not built yet, which is no matter of size
		}
		fmt.Fprintf(out, "%-28s %6.1f MiB\n", name, float64(info.Size())/(1<<20))
		if name == "choir-init" && info.Size() > maxInitBytes {
			ok = false
			fmt.Fprintf(out, "too large: choir-init has %d bytes, the limit is %d: see what it links with go version -m\n", info.Size(), maxInitBytes)
		}
	}
	return ok
}

func percent(part, whole int) string {
	if whole == 0 {
		return "       -"
	}
	return fmt.Sprintf("%6.1f %%", 100*float64(part)/float64(whole))
}
