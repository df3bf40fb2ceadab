package desk

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"unicode"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Bounds of what lies on the desktop.
const (
	maxWindows  = 200
	maxSettings = 500
)

// Desktop is what lies on the desktop as of an event.
type Desktop struct {
	Seq      uint64               `json:"seq" doc:"The moment: everything up to this event."`
	Windows  []eventstore.Window  `json:"windows" doc:"The lowest first."`
	Theme    *choir.ThemeChanged  `json:"theme,omitempty" doc:"Absent for the shipped default."`
	Settings []eventstore.Setting `json:"settings" doc:"What is not at its default, in the order of the keys."`
	// Never set for an earlier moment.
	ThemeOutdated bool `json:"theme_outdated,omitempty" doc:"The theme's file in the workspace was changed after the theme was set: who shows the desktop sets it anew."`
}

// defaultTheme is in force before one was chosen.
const defaultTheme = "system"

// windows is the part of a Desk for windows, theme and settings.
type windows struct {
	log    WindowLog
	events *appender.Appender
	themes string // folder with the files of the themes

	mu sync.Mutex // held from when the desktop is read until its change is appended
}

// Desktop is the desktop as of event seq, now for zero. It reads the log only.
func (ws *windows) Desktop(ctx context.Context, seq uint64) (Desktop, error) {
	now := seq == 0
	if now {
		seq, _ = ws.log.Head()
	}
	d := Desktop{Seq: seq, Windows: []eventstore.Window{}, Settings: []eventstore.Setting{}}
	if err := ws.log.MustHave(seq); err != nil {
		return d, err
	}
	open, err := ws.log.Windows(ctx, seq)
	if err != nil {
		return d, err
	}
	d.Windows = append(d.Windows, open...)
	settings, err := ws.log.Settings(ctx, seq)
	for _, s := range settings {
		if s.Theme != nil {
			d.Theme = s.Theme
		} else {
			d.Settings = append(d.Settings, s)
		}
	}
	if err != nil || !now {
		return d, err
	}
	name := defaultTheme
	if d.Theme != nil {
		name = d.Theme.Name
	}
	d.ThemeOutdated, err = ws.log.ThemeOutdated(ctx, path.Join(ws.themes, name+".json"))
	return d, err
}

// OpenWindow puts a window on the desktop, on top, and gives it the id that is
// missing. The key, when given, makes it idempotent, also over restarts. Code invalid
// when it names a run that opens no windows.
func (ws *windows) OpenWindow(ctx context.Context, role choir.Role, p choir.WindowOpened, key choir.ID) (eventstore.Window, uint64, error) {
	if err := checkOpened(&p); err != nil {
		return eventstore.Window{}, 0, err
	}
	if key == "" {
		var err error
		if key, err = ws.events.NewID(); err != nil {
			return eventstore.Window{}, 0, err
		}
	}
	p.Window = choir.DeriveID(key, "window")
	ws.mu.Lock()
	defer ws.mu.Unlock()
	open, err := ws.log.Windows(ctx, 0)
	if err != nil {
		return eventstore.Window{}, 0, err
	}
	if findWindow(open, p.Window) != nil {
		// The key was used before: the answer is that of the first time.
	} else if err := ws.checkOpener(ctx, p.Run); err != nil {
		return eventstore.Window{}, 0, err
	} else if len(open) >= maxWindows {
		return eventstore.Window{}, 0, choir.E("computer.window", choir.CodeTooLarge, "%d windows are open already", len(open)).WithRemedy("close some first")
	}
	seq, err := ws.appendUnderKey(ctx, role, key, p)
	if err != nil {
		return eventstore.Window{}, 0, err
	}
	return ws.windowAfter(ctx, p.Window, seq)
}

// checkOpener refuses a run that opens no windows: only an open one of this computer
// does, and a demo until its card is put away, because it ends by opening the timeline.
func (ws *windows) checkOpener(ctx context.Context, id choir.ID) error {
	if id == "" {
		return nil
	}
	run, err := ws.log.Run(ctx, id)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return choir.Invalid("run", "this computer has no run %.40q", id)
	case err != nil:
		return err
	case run.State.Open() || run.Paced && !run.Dismissed:
		return nil
	}
	return choir.Invalid("run", "has ended, and opens no windows any more")
}

// ChangeWindow appends what the change makes of a window as it is; nothing when
// it makes nothing, and then the event is 0. Code not_found when no such window
// is open.
func (ws *windows) ChangeWindow(ctx context.Context, role choir.Role, id, key choir.ID, change WindowChange) (eventstore.Window, uint64, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	open, err := ws.log.Windows(ctx, 0)
	if err != nil {
		return eventstore.Window{}, 0, err
	}
	w := findWindow(open, id)
	if w == nil {
		return eventstore.Window{}, 0, &choir.Error{Op: "computer.window", Code: choir.CodeNotFound, Path: "window", Msg: "no window " + strconv.Quote(string(id)) + " is open"}
	}
	payloads, err := change(*w, open[len(open)-1].ID == id)
	if err != nil || len(payloads) == 0 {
		return *w, 0, err
	}
	seq, err := ws.appendUnderKey(ctx, role, key, payloads...)
	if err != nil {
		return *w, 0, err
	}
	if _, closed := payloads[0].(choir.WindowClosed); closed {
		return *w, seq, nil
	}
	return ws.windowAfter(ctx, id, seq)
}

// SetTheme makes the desktop look different. The event is 0 when it looks like
// that already.
func (ws *windows) SetTheme(ctx context.Context, role choir.Role, p choir.ThemeChanged, key choir.ID) (uint64, error) {
	if err := checkTheme(&p); err != nil {
		return 0, err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	d, err := ws.Desktop(ctx, 0)
	if err != nil || d.Theme != nil && d.Theme.Name == p.Name && slices.Equal(d.Theme.Tokens, p.Tokens) {
		return 0, err
	}
	return ws.appendUnderKey(ctx, role, key, p)
}

// SetSetting gives a setting a value, its default for the empty one. The event is
// 0 when it has that value already.
func (ws *windows) SetSetting(ctx context.Context, role choir.Role, p choir.SettingChanged, key choir.ID) (uint64, error) {
	if !settingKey.MatchString(p.Key) {
		return 0, choir.Invalid("key", "%.80q is not the name of a setting: lower-case letters, digits, dot, dash and underscore, a letter first", p.Key)
	}
	if err := checkLine("value", p.Value); err != nil {
		return 0, err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	d, err := ws.Desktop(ctx, 0)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(d.Settings, func(s eventstore.Setting) bool { return s.Key == p.Key })
	switch {
	case i < 0 && p.Value == "", i >= 0 && d.Settings[i].Value == p.Value:
		return 0, nil
	case i < 0 && len(d.Settings) >= maxSettings:
		return 0, choir.E("computer.setting", choir.CodeTooLarge, "%d settings are not at their default already", len(d.Settings)).WithRemedy("put some back to their default first")
	}
	return ws.appendUnderKey(ctx, role, key, p)
}

// appendUnderKey appends events of the desktop, of which the first has the key as
// its id when there is one. It returns the number of the last event.
func (ws *windows) appendUnderKey(ctx context.Context, role choir.Role, key choir.ID, payloads ...choir.Payload) (uint64, error) {
	drafts, err := ws.events.Drafts(payloads)
	if err != nil {
		return 0, err
	}
	for i := range drafts {
		if i == 0 && key != "" {
			drafts[0].ID = key
		} else if key != "" {
			drafts[i].ID = choir.DeriveID(key, strconv.Itoa(i))
		}
	}
	receipts, err := ws.events.AppendAs(ctx, role, drafts...)
	if err != nil {
		return 0, err
	}
	return receipts[len(receipts)-1].Seq, nil
}

func (ws *windows) windowAfter(ctx context.Context, id choir.ID, seq uint64) (eventstore.Window, uint64, error) {
	open, err := ws.log.Windows(ctx, seq)
	if err != nil {
		return eventstore.Window{}, seq, err
	}
	if w := findWindow(open, id); w != nil {
		return *w, seq, nil
	}
	return eventstore.Window{}, seq, choir.E("computer.window", choir.CodeInternal, "window %s is not there after event %d", id, seq)
}

func findWindow(open []eventstore.Window, id choir.ID) *eventstore.Window {
	if i := slices.IndexFunc(open, func(w eventstore.Window) bool { return w.ID == id }); i >= 0 {
		return &open[i]
	}
	return nil
}

var (
	appName    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,99}$`)
	settingKey = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,99}$`)
)

// checkApp refuses what cannot be the name of an app.
func checkApp(name string) error {
	if !appName.MatchString(name) {
		return choir.Invalid("app", "%.80q is not the name of an app: lower-case letters, digits and dash, a letter first", name)
	}
	return nil
}

func checkOpened(p *choir.WindowOpened) error {
	if err := checkApp(p.App); err != nil {
		return err
	}
	if err := checkLine("title", p.Title); err != nil {
		return err
	}
	return checkLine("subject", p.Subject)
}

// checkLine refuses what would not stay on one line, or turn its direction around.
func checkLine(field, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return choir.Invalid(field, "has the character %q, which shows nothing", r)
		}
	}
	return nil
}
