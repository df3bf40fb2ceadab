package tools

import (
	"strings"
	"testing"
)

func TestWhatSourceFilesDeclare(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"a.go": {"package a\n\nimport \"x\"\n\nconst most = 3\n\ntype T struct {\n\tname string\n}\n\n// Run runs.\nfunc (t *T) Run(ctx any) error {\n\tvar x int\n}\nfunc New[V any]() {}\n",
			"const most:5, type T:7, func (t *T) Run:12, func New:15"},
		"a.py":   {"import os\n\nclass A(B):\n    def inner(self): pass\n\nasync def go():\n    pass\n", "class A:3, async def go:6"},
		"a.tsx":  {"export default function App() {}\nconst x = 1;\nexport interface Props {\n  a: string;\n}\nexport type ID = string;\n", "export default function App:1, const x:2, export interface Props:3, export type ID:6"},
		"a.rs":   {"use std;\npub(crate) async fn go() {}\nimpl fmt::Display for A {\n    fn fmt() {}\n}\n", "pub(crate) async fn go:2, impl fmt::Display for A:3"},
		"a.c":    {"#include <x.h>\n#define MOST 3\nstatic int go(int a)\n{\n  if (a) return 1;\n}\nint later(void);\n", "#define MOST:2, static int go(int a):3, int later(void):7"},
		"A.java": {"package a;\npublic final class A {\n  public void go() {}\n}\n", "public final class A:2"},
		"a.sh":   {"set -e\nmain() {\n  x\n}\n", "main:2"},
		"a.txt":  {"func main() {}\n", ""},
	} {
		if got := outline(name, []byte(c.content)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	many := strings.Repeat("def f(): pass\n", 100)
	if got := outline("a.py", []byte(many)); strings.Count(got, "def f") != maxSymbols || !strings.HasSuffix(got, ", ...") {
		t.Errorf("of many: %q", got)
	}
}

func FuzzOutline(f *testing.F) {
	f.Add("a.go", []byte("func \xff() {}\n"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if got := outline(name, content); strings.Contains(got, "\n") || len(got) > maxSymbols*(4*maxSymbolLine+16) {
			t.Errorf("%q", got)
		}
	})
}
