// Command contracts writes what follows from the Go types of the vocabulary:
// JSON Schemas, the TypeScript types of shell and desktop, the Go constants of the
// event types, and docs/CONTRACTS.md. With
// -check it writes nothing and exits 1 when a copy in the tree is stale.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	check := flag.Bool("check", false, "only compare; exit 1 when a copy is stale")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "contracts:", err)
		os.Exit(1)
	}
}

// output is one generated file, its path below the repository.
type output struct {
	path    string
	content []byte
}

func run(root string, check bool) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	if check {
		return compare(root, files)
	}
	for _, f := range files {
		path := filepath.Join(root, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func generate(root string) ([]output, error) {
	v, err := readVocabulary(filepath.Join(root, "internal", "choir"))
	if err != nil {
		return nil, err
	}
	files, err := v.schemas()
	if err != nil {
		return nil, err
	}
	constants, err := typeConstants("internal/choir/types_generated.go")
	if err != nil {
		return nil, err
	}
	files = append(files, v.typeScript("ui/base/domain")...)
	return append(files, constants, namesScript("ui/base/domain/names.ts"), marksScript("ui/base/domain/markwords.ts"), problemsScript("ui/base/domain/problemwords.ts"), output{"docs/CONTRACTS.md", v.markdown()}), nil
}

// compare names every stale copy, and every schema or type that nothing generates.
func compare(root string, files []output) error {
	var stale []string
	made := map[string]bool{}
	for _, f := range files {
		made[f.path] = true
		have, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil || !bytes.Equal(have, f.content) {
			stale = append(stale, f.path)
		}
	}
	var there []string
	for _, folder := range []string{schemaFolder, "ui/base/domain/contracts", "ui/*/src/domain/contracts"} {
		found, err := filepath.Glob(filepath.Join(root, folder, "*"))
		if err != nil {
			return err
		}
		there = append(there, found...)
	}
	for _, path := range there {
		if rel, err := filepath.Rel(root, path); err != nil || !made[filepath.ToSlash(rel)] {
			stale = append(stale, rel)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	slices.Sort(stale)
	return fmt.Errorf("these do not follow from internal/choir and internal/names: %q; write them with: go run ./tools/contracts", stale)
}
