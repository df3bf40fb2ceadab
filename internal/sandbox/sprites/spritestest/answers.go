package spritestest

import (
	"encoding/json"
	"io/fs"
	"strconv"
	"time"
)

// The answers of the service, with its own names of fields.

// spriteInfo describes a sprite.
type spriteInfo struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Organization string            `json:"organization"`
	Status       string            `json:"status"`
	URL          string            `json:"url"`
	Settings     map[string]string `json:"url_settings"`
	Created      time.Time         `json:"created_at"`
	Updated      time.Time         `json:"updated_at"`
	Config       json.RawMessage   `json:"config,omitempty"`
}

// spritePage is a page of the list of sprites.
type spritePage struct {
	Sprites []spriteInfo `json:"sprites"`
	More    bool         `json:"has_more"`
	Next    string       `json:"next_continuation_token"`
	Running int          `json:"running"`
	Name    string       `json:"name"`
}

// spriteCheck is the answer to the question whether a sprite is well.
type spriteCheck struct {
	Name   string    `json:"sprite_name"`
	ID     string    `json:"sprite_id"`
	Status string    `json:"status"`
	At     time.Time `json:"checked_at"`
}

// tooManySprites refuses a sprite beyond the limit of the account.
type tooManySprites struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Limit   int    `json:"limit"`
	Count   int    `json:"current_count"`
}

// fileEntry describes a file.
type fileEntry struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Type    string `json:"type"`
	Size    int64  `json:"size"`
	IsDir   bool   `json:"isDir"`
	Mode    string `json:"mode"`
	ModTime string `json:"modTime"`
}

// fileList is the content of a folder.
type fileList struct {
	Path    string      `json:"path"`
	Entries []fileEntry `json:"entries"`
	Count   int         `json:"count"`
}

// fileWritten is the answer to a file that was written.
type fileWritten struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Mode string `json:"mode"`
}

// filesDeleted lists the files that were deleted.
type filesDeleted struct {
	Deleted []string `json:"deleted"`
	Count   int      `json:"count"`
}

// modeSet is the answer to a change of a mode.
type modeSet struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"`
	Count int    `json:"count"`
}

// sessionInfo describes a session in the list of them.
type sessionInfo struct {
	ID      string    `json:"id"`
	Command string    `json:"command"`
	Folder  string    `json:"workdir"`
	Created time.Time `json:"created"`
	Active  bool      `json:"is_active"`
	TTY     bool      `json:"tty"`
}

// sessionList is the list of sessions.
type sessionList struct {
	Sessions []sessionInfo `json:"sessions"`
}

// message is a text message of a session: session_info or exit.
type message struct {
	Type    string `json:"type"`
	Session string `json:"session_id,omitempty"`
	Command string `json:"command,omitempty"`
	TTY     *bool  `json:"tty,omitempty"`
	Code    *int   `json:"exit_code,omitempty"`
}

// entry returns the description of a file.
func entry(at string, info fs.FileInfo) fileEntry {
	kind := "file"
	switch {
	case info.IsDir():
		kind = "directory"
	case info.Mode()&fs.ModeSymlink != 0:
		kind = "symlink"
	}
	return fileEntry{
		Name: info.Name(), Path: "/" + at, Type: kind, Size: info.Size(), IsDir: info.IsDir(),
		Mode: "0" + strconv.FormatUint(uint64(info.Mode().Perm()), 8), ModTime: info.ModTime().Format(time.RFC3339Nano),
	}
}
