package eventstore

import "choiros/internal/choir"

// settingsTable has the settings of the desktop that are not at their default; the
// key is ThemeSetting, sourceSetting, or "setting/" and the name, the value a
// Setting.
var settingsTable = newVersioned("settings", 2, reducers{
	choir.TypeThemeChanged:    on(themeChanged),
	choir.TypeSettingChanged:  on(settingChanged),
	choir.TypeDesktopUpgraded: on(desktopUpgraded),
	choir.TypeTimelineRewound: on(goBack),
})

// Setting is a setting of the desktop that is not at its default; Theme is given
// for the theme alone, whose key is ThemeSetting.
type Setting struct {
	Key   string              `json:"key"`
	Value string              `json:"value,omitempty"`
	Theme *choir.ThemeChanged `json:"theme,omitempty"`
}

// ThemeSetting is the key of the theme among the settings; the others begin with "setting/".
const ThemeSetting = "theme"

// sourceSetting is the key under which the settings keep what the desktop's
// source was merged from; it goes back with the source, and is no Setting.
const sourceSetting = "source"

func themeChanged(settings *versions, e *choir.Event, p *choir.ThemeChanged) error {
	return settings.setJSON(ThemeSetting, e.Seq, Setting{Key: ThemeSetting, Theme: p})
}

func desktopUpgraded(settings *versions, e *choir.Event, p *choir.DesktopUpgraded) error {
	return settings.setJSON(sourceSetting, e.Seq, p)
}

func settingChanged(settings *versions, e *choir.Event, p *choir.SettingChanged) error {
	key := "setting/" + p.Key
	if p.Value == "" {
		return settings.endVersion(key, e.Seq)
	}
	return settings.setJSON(key, e.Seq, Setting{Key: p.Key, Value: p.Value})
}
