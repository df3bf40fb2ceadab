// Command imports checks who imports whom, and fails with the reason.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	found, err := check(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "imports:", err)
		os.Exit(2)
	}
	for _, v := range found {
		fmt.Println(v)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// violation is one thing a package must not do, and why.
type violation struct{ pkg, does, why string }

func (v violation) String() string { return v.pkg + " " + v.does + ": " + v.why }

// check holds every package of the module against every rule.
func check(root string) ([]violation, error) {
	pkgs, err := list(root)
	if err != nil {
		return nil, err
	}
	var out []violation
	for _, p := range pkgs {
		for _, r := range importRules {
			out = append(out, r.violations(p)...)
		}
		calls, err := callViolations(p)
		if err != nil {
			return nil, err
		}
		out = append(out, calls...)
	}
	return out, nil
}
