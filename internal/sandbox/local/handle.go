package local

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// handleVersion is the version of state. It must be raised when the meaning of a field
// changes.
const handleVersion = 1

// state is the content of a handle. Boot, a pid and a start time together identify a
// process.
type state struct {
	Boot    string           `json:"boot"`
	Init    host.ProcessName `json:"init"`    // choir-init
	Monitor host.ProcessName `json:"monitor"` // bubblewrap, which waits for it outside
	Doors   string           `json:"doors"`
	Limits  string           `json:"limits"` // the limiter's name
	Groups  []string         `json:"groups,omitempty"`
	// Workspace says that it has one, and so the toolchains.
	Workspace  bool     `json:"workspace,omitempty"`
	Toolchains []string `json:"toolchains,omitempty"`
	// DiskLimited says that its workspace was under a disk limit, or that it has none.
	DiskLimited bool `json:"disk_limited,omitempty"`
	// FilesLimited says that its folders in memory may have so many files, and no more.
	FilesLimited bool `json:"files_limited,omitempty"`
}

func encodeHandle(s state) sandbox.Handle { return host.EncodeHandle(Name, handleVersion, s) }

func decodeHandle(h sandbox.Handle) (state, error) {
	s, err := host.DecodeHandle[state](h, Name, handleVersion)
	if err == nil && (s.Doors == "" || s.Init.PID <= 0) {
		err = choir.E(Name+".handle", choir.CodeInvalid, "a handle without a process or without doors")
	}
	return s, err
}
