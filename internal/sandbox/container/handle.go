package container

import (
	"bytes"
	"encoding/json"
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

func encodeHandle(s state) sandbox.Handle {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return sandbox.Handle{Driver: Name, Version: handleVersion, State: raw}
}

func decodeHandle(h sandbox.Handle) (state, error) {
	const op = "container.handle"
	if h.Driver != Name || h.Version != handleVersion {
		return state{}, choir.E(op, choir.CodeInvalid, "a handle of %s, version %d, is not one of %s, version %d",
			h.Driver, h.Version, Name, handleVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(h.State))
	dec.DisallowUnknownFields()
	var s state
	if err := dec.Decode(&s); err != nil {
		return state{}, choir.Wrap(op, choir.CodeInvalid, err, "read a handle")
	}
	if s.Doors == "" || s.Folder == "" || s.Name == "" || s.Init.PID <= 0 {
		return state{}, choir.E(op, choir.CodeInvalid, "a handle without a process, a folder or doors")
	}
	return s, nil
}
