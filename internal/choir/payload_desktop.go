package choir

// WindowOpened says that a window appeared.
type WindowOpened struct {
	Window  ID     `json:"window" choir:"id7" doc:"The window."`
	App     string `json:"app" choir:"len=1..100" doc:"App it runs."`
	Title   string `json:"title,omitempty" choir:"len=0..200" doc:"What its bar says."`
	Subject string `json:"subject,omitempty" choir:"len=0..4096" doc:"What it shows: a path below the workspace root or the id of a document."`
	Bounds  Rect   `json:"bounds" doc:"Place and size."`
	Desktop int    `json:"desktop,omitempty" choir:"range=0..31" doc:"Virtual desktop it is on, from 0."`
	Run     ID     `json:"run,omitempty" choir:"id7" doc:"The run that opened it, which was open then, or a demo that still had its card; absent when a person did."`
}

// Rect is a rectangle on the desktop in CSS pixels, from the top left corner.
type Rect struct {
	X      int `json:"x" choir:"range=-100000..100000" doc:"Left edge."`
	Y      int `json:"y" choir:"range=-100000..100000" doc:"Upper edge."`
	Width  int `json:"width" choir:"range=1..100000" doc:"Width."`
	Height int `json:"height" choir:"range=1..100000" doc:"Height."`
}

// WindowMoved says that a window has another place or size.
type WindowMoved struct {
	Window  ID   `json:"window" choir:"id7" doc:"The window."`
	Bounds  Rect `json:"bounds" doc:"Place and size now."`
	Desktop int  `json:"desktop,omitempty" choir:"range=0..31" doc:"Virtual desktop it is on now."`
}

// WindowState is how a window is shown.
type WindowState string

// The states of a window; its bounds are those it has when normal.
const (
	WindowNormal    WindowState = "normal"
	WindowMinimised WindowState = "minimised"
	WindowMaximised WindowState = "maximised"
	WindowSnapped   WindowState = "snapped"
)

// WindowSnap is the part of the desktop that a snapped window fills.
type WindowSnap string

// The parts of the desktop: its halves and its quarters.
const (
	SnapLeft        WindowSnap = "left"
	SnapRight       WindowSnap = "right"
	SnapTop         WindowSnap = "top"
	SnapBottom      WindowSnap = "bottom"
	SnapTopLeft     WindowSnap = "top_left"
	SnapTopRight    WindowSnap = "top_right"
	SnapBottomLeft  WindowSnap = "bottom_left"
	SnapBottomRight WindowSnap = "bottom_right"
)

// WindowShown says that a window was minimised, maximised, snapped or restored.
type WindowShown struct {
	Window ID          `json:"window" choir:"id7" doc:"The window."`
	State  WindowState `json:"state" choir:"enum=normal|minimised|maximised|snapped" doc:"How it is shown now."`
	Snap   WindowSnap  `json:"snap,omitempty" choir:"enum=left|right|top|bottom|top_left|top_right|bottom_left|bottom_right" doc:"Part of the desktop it fills when snapped; kept while it is minimised and was snapped."`
	Was    WindowState `json:"was,omitempty" choir:"enum=normal|maximised|snapped" doc:"For a minimised window, what restoring it gives; normal when absent."`
}

// WindowRetitled says that a window shows something else.
type WindowRetitled struct {
	Window  ID     `json:"window" choir:"id7" doc:"The window."`
	Title   string `json:"title,omitempty" choir:"len=0..200" doc:"What its bar says now."`
	Subject string `json:"subject,omitempty" choir:"len=0..4096" doc:"What it shows now: a path below the workspace root or the id of a document."`
}

// WindowFocused says that a window came to the top.
type WindowFocused struct {
	Window ID `json:"window" choir:"id7" doc:"The window."`
}

// WindowClosed says that a window is gone.
type WindowClosed struct {
	Window ID `json:"window" choir:"id7" doc:"The window."`
}

// ThemeChanged says that the desktop looks different.
type ThemeChanged struct {
	Name   string       `json:"name" choir:"len=1..100" doc:"Name of the theme."`
	Tokens []ThemeToken `json:"tokens,omitempty" choir:"len=0..200" doc:"Values that differ from the shipped theme of that name."`
}

// ThemeToken is one value of a theme.
type ThemeToken struct {
	Name  string `json:"name" choir:"len=1..100" doc:"Name of the token."`
	Value string `json:"value" choir:"len=1..200" doc:"Its value in CSS."`
}

// SettingChanged says that a setting of the desktop has another value.
type SettingChanged struct {
	Key   string `json:"key" choir:"len=1..100" doc:"Name of the setting."`
	Value string `json:"value,omitempty" choir:"len=0..4096" doc:"Its value; the default when empty."`
}

// EventType implements Payload.
func (WindowOpened) EventType() Type { return "window.opened" }

// EventType implements Payload.
func (WindowMoved) EventType() Type { return "window.moved" }

// EventType implements Payload.
func (WindowShown) EventType() Type { return "window.shown" }

// EventType implements Payload.
func (WindowRetitled) EventType() Type { return "window.retitled" }

// EventType implements Payload.
func (WindowFocused) EventType() Type { return "window.focused" }

// EventType implements Payload.
func (WindowClosed) EventType() Type { return "window.closed" }

// EventType implements Payload.
func (ThemeChanged) EventType() Type { return "theme.changed" }

// EventType implements Payload.
func (SettingChanged) EventType() Type { return "setting.changed" }
