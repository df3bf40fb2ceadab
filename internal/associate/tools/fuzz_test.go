package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/associate/tools"
)

// FuzzPatch holds that a patch that is refused changes nothing.
func FuzzPatch(f *testing.F) {
	for _, body := range []string{
		"*** Update File: a\n@@ one\n-two\n+2\n*** End of File", "*** Add File: b/c\n+x", "*** Delete File: a", "*** Update File: a\n*** Move to: d\n@@ -1 +1 @@\n one\n+x", "*** Update File: a\n\n@@",
		"*** Delete File: a\n*** Add File: a\n+x", "*** Update File: a\n@@\n-one\n-two\n-three",
	} {
		f.Add("*** Begin Patch\n" + body + "\n*** End Patch")
	}
	const before = "one\ntwo\nthree\n"
	f.Fuzz(func(t *testing.T, patch string) {
		raw, err := json.Marshal(map[string]string{"patch": patch})
		if err != nil {
			t.Fatal(err)
		}
		call, err := tools.Decode("edit_file", raw)
		if err != nil {
			return
		}
		p := newPlace(t, map[string]string{"a": before})
		out, err := call.Run(t.Context(), p.kit)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile(filepath.Join(p.dir, "workspace/app/a")); !out.OK && (err != nil || string(now) != before) {
			t.Errorf("refused with %q, and the file is %q, %v", out.Text, now, err)
		}
	})
}

// FuzzIgnoreRules holds that any .gitignore can be read, and that ignored true lists every file.
func FuzzIgnoreRules(f *testing.F) {
	for _, rules := range []string{"*.o\n!a.o", "/a\nb/", "[a", "[]a]", "**/x/**", "\\", "a\\ ", "[!a-b]*", "ä[^/]"} {
		f.Add(rules)
	}
	f.Fuzz(func(t *testing.T, rules string) {
		p := newPlace(t, map[string]string{".gitignore": rules, "a.o": "1", "b/x": "2"})
		p.call(t, "list_files", in{})
		all := map[string]bool{}
		for _, line := range strings.Split(p.call(t, "list_files", in{"ignored": true}).Text, "\n") {
			all[line] = true
		}
		if !all["a.o"] || !all["b/x"] || !all[".gitignore"] {
			t.Errorf("with %q it lists %v", rules, all)
		}
	})
}
