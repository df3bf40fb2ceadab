package container

import (
	"path/filepath"

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
	Boot      string           `json:"boot"`
	Init      host.ProcessName `json:"init"`      // the container's first process
	Monitor   host.ProcessName `json:"monitor"`   // the engine's process that waits for that
	Container string           `json:"container"` // the engine's id of it
	Name      string           `json:"name"`      // of the container and its folder
	Folder    string           `json:"folder"`
	Doors     string           `json:"doors"`
	Engine    string           `json:"engine"` // its name and version
	// Limited says that the engine holds the limits.
	Limited bool `json:"limited,omitempty"`
	// Workspace says that it has one, and so the toolchains.
	Workspace  bool     `json:"workspace,omitempty"`
	Toolchains []string `json:"toolchains,omitempty"`
	// DiskLimited says that its workspace was under a disk limit, or that it has none.
	DiskLimited bool `json:"disk_limited,omitempty"`
}

// doorFolder returns the folder of the host in which choir-init fetches the control door.
func (s state) doorFolder() string { return filepath.Join(s.Folder, "door") }

func encodeHandle(s state) sandbox.Handle { return host.EncodeHandle(Name, handleVersion, s) }

func decodeHandle(h sandbox.Handle) (state, error) {
	s, err := host.DecodeHandle[state](h, Name, handleVersion)
	if err == nil && (s.Doors == "" || s.Folder == "" || s.Name == "" || s.Init.PID <= 0) {
		err = choir.E(Name+".handle", choir.CodeInvalid, "a handle without a process, a folder or doors")
	}
	return s, err
}
