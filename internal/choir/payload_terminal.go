package choir

// TerminalOpened says that a shell runs behind a terminal. What it prints and
// what is typed are never in the log.
type TerminalOpened struct {
	Terminal ID     `json:"terminal" choir:"id7" doc:"The terminal."`
	Cwd      string `json:"cwd" choir:"len=0..4096" doc:"Folder it began in, below the workspace root."`
	Title    string `json:"title" choir:"len=1..100" doc:"What its tab says."`
}

// TerminalClosed says that a terminal is gone, with everything that was started
// in it.
type TerminalClosed struct {
	Terminal ID             `json:"terminal" choir:"id7" doc:"The terminal."`
	Reason   TerminalReason `json:"reason" choir:"enum=exited|closed|rewind|undo|taken|lost" doc:"Why."`
	Code     int            `json:"code" choir:"range=-1..255" doc:"Exit code of its shell; -1 when a signal ended it or nobody knows."`
	Signal   string         `json:"signal,omitempty" choir:"len=1..20" doc:"Signal that ended its shell."`
}

// TerminalReason is why a terminal ended.
type TerminalReason string

// The reasons.
const (
	TerminalExited TerminalReason = "exited" // its shell ended by itself
	TerminalShut   TerminalReason = "closed" // a person closed it
	TerminalRewind TerminalReason = "rewind" // the computer went back to an earlier moment
	TerminalUndo   TerminalReason = "undo"   // an action was undone
	TerminalTaken  TerminalReason = "taken"  // changes of another computer, or of a newer desktop, were taken
	TerminalLost   TerminalReason = "lost"   // its sandbox, or choir, ended
)

// EventType implements Payload.
func (TerminalOpened) EventType() Type { return "terminal.opened" }

// EventType implements Payload.
func (TerminalClosed) EventType() Type { return "terminal.closed" }
