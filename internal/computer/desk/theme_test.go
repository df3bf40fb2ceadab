package desk

import (
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestAThemeHasPlainValuesOnly(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"#fff": true, "1.5rem": true, "rgb(0 0 0 / 50%)": true, "0 1px 2px rgba(0,0,0,.2)": true, `"Inter", 'Noto (x', sans-serif`: true,
		"calc(1px + var(--a))": true, "color-mix(in srgb, red 10%, blue)": true, "RGB(1,2,3)": true, "linear-gradient(90deg, #000, #fff)": true,
		"url(http://x)": false, "URL('x')": false, `image-set("x" 1x)`: false, `src("x")`: false, "expression(1)": false, "element(#x)": false,
		"red; background: blue": false, "red } body { x: y": false, "@import": false, "/* */": false, "red /*": false, "rgb(1,2,3": false, "a)(b": false,
		`"open`: false, `'a"`: false, `\75rl(x)`: false, "a\nb": false, "<script>": false, "red!important": false, "ｕrl(x)": false, "": false,
	} {
		err := checkTheme(&choir.ThemeChanged{Name: "dark", Tokens: []choir.ThemeToken{{Name: "accent", Value: value}}})
		if ok != (err == nil) {
			t.Errorf("%q: %v", value, err)
		}
		if p := choir.ProblemOf(err); err != nil && (p.Code != choir.CodeInvalid || p.Path != "tokens[0].value") {
			t.Errorf("%q: %s at %s", value, p.Code, p.Path)
		}
	}
	for _, bad := range []choir.ThemeChanged{
		{Name: "Dark Mode"}, {Name: "x", Tokens: []choir.ThemeToken{{Name: "a:b", Value: "1"}}}, {Name: "x", Tokens: []choir.ThemeToken{{Name: "a-", Value: "1"}}},
		{Name: "x", Tokens: []choir.ThemeToken{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}},
	} {
		if err := checkTheme(&bad); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func FuzzThemeValue(f *testing.F) {
	for _, s := range []string{"rgb(1,2,3)", "url(x)", `"a(" b`, "((", "calc(1px*(2+3))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if checkCSS(s) != nil {
			return
		}
		// Whatever is taken stays inside its declaration and fetches nothing.
		if strings.ContainsAny(s, ";{}<>\\@!\n") || strings.Count(s, `"`)%2 != 0 && !strings.Contains(s, "'") {
			t.Errorf("%q", s)
		}
		if bare, _ := outsideQuotes(strings.ToLower(s)); strings.Contains(bare, "url(") || strings.Contains(bare, "/*") {
			t.Errorf("%q", s)
		}
	})
}

func TestAThemeWhoseFileChangedSinceIsSaid(t *testing.T) {
	l := newLab(t)
	outdated := func() bool { return must(l.Desktop(t.Context(), 0))(t).ThemeOutdated }
	set := func(value string) {
		t.Helper()
		p := choir.ThemeChanged{Name: "own", Tokens: []choir.ThemeToken{{Name: "desk", Value: value}}}
		if _, err := l.SetTheme(t.Context(), choir.RoleShell, p, l.newID()); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"nothing was chosen", func() {}, false},
		{"the default's file came", func() { l.wrote("choiros/themes/system.json") }, true},
		{"another was chosen", func() { set("red") }, false},
		{"another file", func() { l.wrote("choiros/themes/other.json") }, false},
		{"its file", func() { l.wrote("choiros/themes/own.json") }, true},
		{"set anew", func() { set("blue") }, false},
	} {
		step.do()
		if got := outdated(); got != step.want {
			t.Errorf("%s: outdated is %t", step.name, got)
		}
	}
}
