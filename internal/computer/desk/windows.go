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

// Limits of the desktop's windows and of settings with another value than their default.
const (
	maxWindows  = 200
	maxSettings = 500
)

// Desktop holds windows, theme and settings as of an event.
type Desktop struct {
	Seq      uint64               `json:"seq" doc:"The moment: everything up to this event."`
	Windows  []eventstore.Window  `json:"windows" doc:"The lowest first."`
	Theme    *choir.ThemeChanged  `json:"theme,omitempty" doc:"Absent for the shipped default."`
	Settings []eventstore.Setting `json:"settings" doc:"What is not at its default, in the order of the keys."`
	// Never set for an earlier moment.
	ThemeOutdated bool `json:"theme_outdated,omitempty" doc:"The theme's file in the workspace was changed after the theme was set: who shows the desktop sets it anew."`
}

// defaultTheme is the theme before one is set.
const defaultTheme = "system"

// windows is the part of a Desk for windows, theme and settings.
type windows struct {
	log    WindowLog
	events *appender.Appender
	themes string // folder with the files of the themes

	memory memory     // the current desktop
	mu     sync.Mutex // held from reading the desktop to appending its change
}

// Desktop returns the desktop as of event seq (0: now). Code not_found: the log has no such
// event.
func (ws *windows) Desktop(ctx context.Context, seq uint64) (Desktop, error) {
	if seq == 0 {
		return ws.desktopNow(ctx)
	}
	if err := ws.log.MustHave(seq); err != nil {
		return Desktop{Seq: seq}, err
	}
	then, err := ws.memory.read(ctx, seq)
	return desktopOf(then), err
}

// desktopNow returns the current desktop. While the SQLite copy cannot be written the result
// may be out of date, if ctx permits that.
func (ws *windows) desktopNow(ctx context.Context) (Desktop, error) {
	s, err := ws.memory.now(ctx)
	if err != nil && ctx.Err() == nil {
		head, _ := ws.log.Head()
		s, err = ws.memory.read(ctx, head)
	}
	d := desktopOf(s)
	if err != nil {
		return d, err
	}
	name := defaultTheme
	if d.Theme != nil {
		name = d.Theme.Name
	}
	d.ThemeOutdated, err = ws.log.ThemeOutdated(ctx, path.Join(ws.themes, name+".json"))
	return d, err
}

// desktopOf returns a state as a Desktop.
func desktopOf(s state) Desktop {
	d := Desktop{Seq: s.seq, Windows: append([]eventstore.Window{}, s.windows...), Settings: []eventstore.Setting{}}
	for _, set := range s.settings {
		if set.Theme != nil {
			d.Theme = set.Theme
		} else {
			d.Settings = append(d.Settings, set)
		}
	}
	return d
}

// OpenWindow opens a window on top and returns its id and the number of its event. With a
// key, a repeated call returns the first one's result, also after restarts. Code invalid: a
// wrong field, or a run that may open no windows.
func (ws *windows) OpenWindow(ctx context.Context, role choir.Role, p choir.WindowOpened, key choir.ID) (choir.ID, uint64, error) {
	if err := checkOpened(&p); err != nil {
		return "", 0, err
	}
	if key == "" {
		var err error
		if key, err = ws.events.NewID(); err != nil {
			return "", 0, err
		}
	}
	p.Window = choir.DeriveID(key, "window")
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now, err := ws.memory.now(ctx)
	if err != nil {
		return "", 0, err
	}
	if findWindow(now.windows, p.Window) != nil {
		// The key was used before: the answer is that of the first time.
	} else if err := ws.checkOpener(ctx, &p); err != nil {
		return "", 0, err
	} else if len(now.windows) >= maxWindows {
		return "", 0, choir.Refuse("computer.window", choir.ReasonTooManyWindows, choir.CountOf("n", len(now.windows)))
	}
	seq, err := ws.appendUnderKey(ctx, role, key, p)
	return p.Window, seq, err
}

// checkOpener returns an error with code invalid if a window names a run that may not open
// it: none of this computer, or a run that has ended, unless its card is not dismissed and it is
// a demo or made what the window shows.
func (ws *windows) checkOpener(ctx context.Context, p *choir.WindowOpened) error {
	if p.Run == "" {
		return nil
	}
	run, err := ws.log.Run(ctx, p.Run)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return choir.Refuse("computer.window", choir.ReasonNoRunHere, choir.TextOf("id", p.Run)).At("run")
	case err != nil:
		return err
	case run.State.Open() || run.Paced && !run.Dismissed:
		return nil
	}
	if made, err := ws.madeBy(ctx, p.Run); err != nil || !run.Dismissed && made != "" && made == p.Subject {
		return err
	}
	return choir.RefuseField("run", choir.ReasonRunOpensNone)
}

// madeBy returns the subject of what an ended run made because it was asked for; "" for
// nothing.
func (ws *windows) madeBy(ctx context.Context, run choir.ID) (string, error) {
	e, err := ws.log.First(ctx, choir.TypeRunFinished, string(run))
	if err != nil {
		return "", err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return "", err
	}
	done := p.(*choir.RunFinished)
	if done.Document != "" {
		return "document:" + string(done.Document), nil
	}
	return done.File, nil
}

// ChangeWindow appends the events of a change of an open window and returns the number of the
// last, 0 for none. Code not_found: no such window is open.
func (ws *windows) ChangeWindow(ctx context.Context, role choir.Role, id, key choir.ID, change WindowChange) (uint64, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now, err := ws.memory.now(ctx)
	if err != nil {
		return 0, err
	}
	w := findWindow(now.windows, id)
	if w == nil {
		return 0, choir.Refuse("computer.window", choir.ReasonNoWindow, choir.TextOf("id", id)).At("window")
	}
	payloads, err := change(*w, now.windows[len(now.windows)-1].ID == id)
	if err != nil || len(payloads) == 0 {
		return 0, err
	}
	return ws.appendUnderKey(ctx, role, key, payloads...)
}

// Window returns the current state of an open window, nil if it is not open.
func (ws *windows) Window(ctx context.Context, id choir.ID) (*eventstore.Window, error) {
	now, err := ws.memory.now(ctx)
	if w := findWindow(now.windows, id); err == nil && w != nil {
		found := *w
		return &found, nil
	}
	return nil, err
}

// SetTheme sets the theme and returns the event's number, 0 if it is already set.
func (ws *windows) SetTheme(ctx context.Context, role choir.Role, p choir.ThemeChanged, key choir.ID) (uint64, error) {
	if err := checkTheme(&p); err != nil {
		return 0, err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now, err := ws.memory.now(ctx)
	if err != nil {
		return 0, err
	}
	if theme := desktopOf(now).Theme; theme != nil && theme.Name == p.Name && slices.Equal(theme.Tokens, p.Tokens) {
		return 0, nil
	}
	return ws.appendUnderKey(ctx, role, key, p)
}

// SetSetting sets a setting, to its default for an empty value, and returns the event's
// number, 0 if it has that value.
func (ws *windows) SetSetting(ctx context.Context, role choir.Role, p choir.SettingChanged, key choir.ID) (uint64, error) {
	if !settingKey.MatchString(p.Key) {
		return 0, choir.RefuseField("key", choir.ReasonSettingNameRule, choir.TextOf("given", p.Key))
	}
	if err := checkLine("value", p.Value); err != nil {
		return 0, err
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now, err := ws.memory.now(ctx)
	if err != nil {
		return 0, err
	}
	settings := desktopOf(now).Settings
	i := slices.IndexFunc(settings, func(s eventstore.Setting) bool { return s.Key == p.Key })
	switch {
	case i < 0 && p.Value == "", i >= 0 && settings[i].Value == p.Value:
		return 0, nil
	case i < 0 && len(settings) >= maxSettings:
		return 0, choir.Refuse("computer.setting", choir.ReasonTooManySettings, choir.CountOf("n", len(settings)))
	}
	return ws.appendUnderKey(ctx, role, key, p)
}

// appendUnderKey appends events with ids derived from key, the first with key itself, or with
// fresh ids if key is empty. It returns the number of the last event.
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

// findWindow returns the window with an id; nil if it is not open.
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

// checkApp returns an error with code invalid unless name can be an app's.
func checkApp(name string) error {
	if !appName.MatchString(name) {
		return choir.RefuseField("app", choir.ReasonAppNameRule, choir.TextOf("given", name))
	}
	return nil
}

// checkOpened returns an error with code invalid unless app, title and subject are well formed.
func checkOpened(p *choir.WindowOpened) error {
	if err := checkApp(p.App); err != nil {
		return err
	}
	if err := checkLine("title", p.Title); err != nil {
		return err
	}
	return checkLine("subject", p.Subject)
}

// checkLine returns an error with code invalid if s has control characters or characters
// that change the text's direction.
func checkLine(field, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return choir.RefuseField(field, choir.ReasonFieldUnseen, choir.TextOf("character", r))
		}
	}
	return nil
}
