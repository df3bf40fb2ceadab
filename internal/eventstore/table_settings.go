package eventstore

import "choiros/internal/choir"

// settingsTable stores the settings of the desktop that differ from their default; the
// key is ThemeSetting, sourceSetting, or "setting/" and the name, the value a Setting.
var settingsTable = newVersioned("settings", 2, reducers{
	choir.TypeThemeChanged:    settingChanged,
	choir.TypeSettingChanged:  settingChanged,
	choir.TypeDesktopUpgraded: on(desktopUpgraded),
	choir.TypeTimelineRewound: on(restoreVersions),
})

// Setting is a setting of the desktop that differs from its default. Theme is set only
// for the theme, whose key is ThemeSetting.
type Setting struct {
	Key   string              `json:"key"`
	Value string              `json:"value,omitempty"`
	Theme *choir.ThemeChanged `json:"theme,omitempty"`
}

// ThemeSetting is the key of the theme among the settings; other keys begin with
// "setting/".
const ThemeSetting = "theme"

// sourceSetting is the key of the version of the desktop's source among the settings. A
// rewind restores it together with the source; it is no Setting.
const sourceSetting = "source"

func desktopUpgraded(settings *versions, e *choir.Event, p *choir.DesktopUpgraded) error {
	return settings.setJSON(sourceSetting, e.Seq, p)
}

// RowKey returns the key of the setting's row in the table settings.
func (s Setting) RowKey() string {
	if s.Theme != nil {
		return ThemeSetting
	}
	return "setting/" + s.Key
}

// ReduceSetting applies a payload to the settings. It returns the key of the setting that
// the payload changes, "" when it changes none, and the setting after it: nil for its
// default.
func ReduceSetting(payload choir.Payload) (key string, after *Setting) {
	switch p := payload.(type) {
	case *choir.ThemeChanged:
		return ThemeSetting, &Setting{Key: ThemeSetting, Theme: p}
	case *choir.SettingChanged:
		set := Setting{Key: p.Key, Value: p.Value}
		if p.Value == "" {
			return set.RowKey(), nil
		}
		return set.RowKey(), &set
	}
	return "", nil
}

func settingChanged(rows part, e *choir.Event, payload choir.Payload) error {
	settings := rows.(*versions)
	key, after := ReduceSetting(payload)
	if after == nil {
		return settings.endVersion(key, e.Seq)
	}
	return settings.setJSON(key, e.Seq, after)
}
