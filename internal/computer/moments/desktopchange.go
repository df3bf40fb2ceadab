package moments

import (
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/names"
	"choiros/internal/timeline"
)

// DesktopChange is one window or setting that differs between two moments, as data. Say returns its sentence.
type DesktopChange struct {
	Change DeskChange `json:"change" enum:"opened,closed,moved,minimised,maximised,snapped,restored,shows,set" doc:"How it differs at the second moment."`
	App    string     `json:"app,omitempty" doc:"App of a window."`
	Title  string     `json:"title,omitempty" doc:"Title of a window at the first moment at which it was open."`
	Key    string     `json:"key,omitempty" doc:"Setting."`
	From   string     `json:"from,omitempty" doc:"Value of a setting at the first moment; none is the default."`
	To     string     `json:"to,omitempty" doc:"Value of a setting, or title of a window, at the second moment; none is the default, or no title."`
}

// DeskChange is how a window or setting differs between two moments.
type DeskChange string

// The changes.
const (
	WindowOpened    DeskChange = "opened"
	WindowClosed    DeskChange = "closed"
	WindowMoved     DeskChange = "moved"
	WindowMinimised DeskChange = "minimised"
	WindowMaximised DeskChange = "maximised"
	WindowSnapped   DeskChange = "snapped"
	WindowRestored  DeskChange = "restored"
	WindowShows     DeskChange = "shows" // another title or subject
	SettingSet      DeskChange = "set"
)

// changeOfState is the change of a window that got into a state.
var changeOfState = map[choir.WindowState]DeskChange{
	choir.WindowNormal: WindowRestored, choir.WindowMinimised: WindowMinimised, choir.WindowMaximised: WindowMaximised, choir.WindowSnapped: WindowSnapped,
}

// changeOfWindow compares a window at two moments, where nil means that it was not open. It returns the change;
// false if there is none.
func changeOfWindow(a, b *eventstore.Window) (DesktopChange, bool) {
	at := a
	if a == nil {
		at = b
	}
	change := DesktopChange{App: at.App, Title: at.Title}
	switch {
	case a == nil:
		change.Change = WindowOpened
	case b == nil:
		change.Change = WindowClosed
	case a.Bounds != b.Bounds || a.Desktop != b.Desktop:
		change.Change = WindowMoved
	case a.State != b.State || a.Snap != b.Snap:
		change.Change = changeOfState[b.State]
	case a.Title != b.Title || a.Subject != b.Subject:
		change.Change, change.To = WindowShows, b.Title
	default:
		return change, false
	}
	return change, true
}

// settingValue returns the value of a setting or theme as a text, empty without a value.
func settingValue(s *eventstore.Setting) string {
	switch {
	case s == nil:
		return ""
	case s.Theme == nil:
		return s.Value
	case len(s.Theme.Tokens) == 0:
		return s.Theme.Name
	}
	tokens := make([]string, len(s.Theme.Tokens))
	for i, t := range s.Theme.Tokens {
		tokens[i] = t.Name + ": " + t.Value
	}
	return s.Theme.Name + " (" + strings.Join(tokens, ", ") + ")"
}

// Say returns the sentence of a change in a language. The pages say it likewise (ui/base/domain/marksaid.ts).
func (c *DesktopChange) Say(l names.Language) string {
	say := func(key string, v names.Values) string {
		text, _ := names.SayMark(l, key, v)
		return text
	}
	quoted := func(title string) string { return say("quoted", names.Values{Text: timeline.Line(title)}) }
	if c.Change == SettingSet {
		value := func(v string) string {
			if v == "" {
				return say("theDefault", names.Values{})
			}
			return timeline.Line(v)
		}
		return say("settingSet", names.Values{Text: c.Key, From: value(c.From), To: value(c.To)})
	}
	v := names.Values{Text: names.App(c.App, l)}
	if english := names.App(c.App, names.English); c.Title != "" && c.Title != english {
		v.Text += " " + quoted(c.Title)
	}
	if v.To = quoted(c.To); c.To == "" {
		v.To = say("somethingElse", names.Values{})
	}
	return say("window"+strings.ToUpper(string(c.Change[:1]))+string(c.Change[1:]), v)
}
