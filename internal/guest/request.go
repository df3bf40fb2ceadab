package guest

import (
	"encoding/json"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
	"choiros/internal/snapshot"
)

// op is the name of an operation of the protocol.
type op string

const (
	opHello       op = "hello"
	opAttach      op = "attach"
	opStartRole   op = "role-start"
	opCredentials op = "role-credentials"
	opStopRole    op = "role-stop"
	opExec        op = "exec"
	opScan        op = "scan"
	opRestore     op = "restore"
	opStat        op = "stat"
	opList        op = "list"
	opRead        op = "read"
	opWrite       op = "write"
	opMkdir       op = "mkdir"
	opRename      op = "rename"
	opRemove      op = "remove"
	opCopy        op = "copy"
	opFind        op = "find"
	opUnpack      op = "unpack"
	opDial        op = "dial"
	opAccept      op = "accept"
	opForeground  op = "foreground"
	opMux         op = "mux" // the connection carries others from here
)

// request is the first frame of every connection. Op determines which of the other fields
// are used.
type request struct {
	Op          op              `json:"op" choir:"len=1..40"`
	Role        *RoleSpec       `json:"role,omitempty"`
	Credentials json.RawMessage `json:"credentials,omitempty"`
	Exec        *ExecSpec       `json:"exec,omitempty"`
	Path        string          `json:"path,omitempty" choir:"len=0..12288"`
	To          string          `json:"to,omitempty" choir:"len=0..12288"`
	After       string          `json:"after,omitempty" choir:"len=0..1024"`
	Limit       int             `json:"limit,omitempty" choir:"range=0..10000"`
	Mode        uint32          `json:"mode,omitempty" choir:"range=0..4095"`
	All         bool            `json:"all,omitempty"`
	Narrow      bool            `json:"narrow,omitempty"`
	Only        []string        `json:"only,omitempty" choir:"len=0..64,each=1..12288"`
	Port        int             `json:"port,omitempty" choir:"range=0..65535"`
	CacheLimit  int64           `json:"cache_limit,omitempty" choir:"range=0..9007199254740991"`
	FileLimit   int64           `json:"file_limit,omitempty" choir:"range=0..9007199254740991"`  // see snapshot.Limits
	TreeLimit   int64           `json:"tree_limit,omitempty" choir:"range=0..9007199254740991"`  // see snapshot.Limits
	EntryLimit  int64           `json:"entry_limit,omitempty" choir:"range=0..9007199254740991"` // see snapshot.Limits
	Target      choir.Digest    `json:"target,omitempty" choir:"digest"`
	Worktree    choir.ID        `json:"worktree,omitempty" choir:"id7"` // the tree of a scan or restore; empty for the workspace
	Find        *FindSpec       `json:"find,omitempty"`
	Door        roledoor.Door   `json:"door,omitempty" choir:"len=0..40"`
	Caller      Caller          `json:"caller,omitempty" choir:"len=0..40"`
}

// limited sets the client's limits in r and returns it.
func (c *Client) limited(r *request) *request {
	r.CacheLimit = c.cacheLimit
	r.FileLimit, r.TreeLimit, r.EntryLimit = c.limits.FileBytes, c.limits.TreeBytes, c.limits.Entries
	return r
}

func (r *request) limits() snapshot.Limits {
	return snapshot.Limits{FileBytes: r.FileLimit, TreeBytes: r.TreeLimit, Entries: r.EntryLimit}
}

// control is a message during an operation. Exactly one field is set.
type control struct {
	Signal  string  `json:"signal,omitempty" choir:"len=0..20"`
	Kill    bool    `json:"kill,omitempty"` // the command and everything below it
	Resize  *Size   `json:"resize,omitempty"`
	Started int     `json:"started,omitempty" choir:"range=0..4194304"` // pid
	Notice  *Notice `json:"notice,omitempty"`
}

// streamBegins is the reply to accept. The stream follows it.
type streamBegins struct {
	Launch int    `json:"launch,omitempty"` // of the role that opened it, 0 for a tool
	At     string `json:"at,omitempty"`     // the loopback address that a tool connected to
}

// done is the reply of operations without a result type of their own.
type done struct {
	PID   int   `json:"pid,omitempty"`
	Files int64 `json:"files,omitempty"` // paths, of a removal of everything
	Bytes int64 `json:"bytes,omitempty"`
}

// foreground is the reply to foreground.
type foreground struct {
	Programs int `json:"programs"`
}
