package computer

import (
	"testing"

	"choiros/internal/choir"
)

// TestAThemeFileOfTheWorkspaceIsTheDesks writes files of themes where the desktop's
// source keeps them: the desk knows that the theme in force is older.
func TestAThemeFileOfTheWorkspaceIsTheDesks(t *testing.T) {
	l := newLab(t)
	set := choir.ThemeChanged{Name: "own", Tokens: []choir.ThemeToken{{Name: "desk", Value: "red"}}}
	must(l.desk.SetTheme(l.within(), choir.RoleShell, set, newTestID(t)))(t)
	for _, step := range []struct {
		path string
		want bool
	}{{"choiros/themes/other.json", false}, {"choiros/themes/own.json", true}} {
		l.write(step.path, "{}")
		if got := must(l.Desk().Desktop(l.within(), 0))(t).ThemeOutdated; got != step.want {
			t.Errorf("after %s was written: outdated is %t", step.path, got)
		}
	}
}
