package microvm

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// handleVersion is the version of state. It must be raised when the meaning of a field
// changes.
const handleVersion = 1

// state is the content of a handle. Boot, a pid and a start time together identify the
// process of the monitor.
type state struct {
	Boot   string   `json:"boot"`
	PID    int      `json:"pid"`
	Start  uint64   `json:"start"`
	Doors  string   `json:"doors"`
	Limits string   `json:"limits"` // the limiter's name, of the machine's process
	Groups []string `json:"groups,omitempty"`
	Facts  facts    `json:"facts"`
	// Of a Firecracker machine: its name, its folder, and the name of its vsock there.
	Name   string `json:"name,omitempty"`
	Room   string `json:"room,omitempty"`
	Socket string `json:"socket,omitempty"`
	// Computer and Role are whose a Firecracker machine is.
	Computer choir.ID   `json:"computer,omitempty"`
	Role     choir.Role `json:"role,omitempty"`
	// Most is the memory that the sandbox may use.
	Most int64 `json:"most"`
}

func encodeHandle(s state) sandbox.Handle { return host.EncodeHandle(Name, handleVersion, s) }

func decodeHandle(h sandbox.Handle) (state, error) {
	s, err := host.DecodeHandle[state](h, Name, handleVersion)
	if err == nil && (s.Doors == "" || s.PID <= 0) {
		err = choir.E(Name+".handle", choir.CodeInvalid, "a handle without a process or without doors")
	}
	if err == nil && s.Facts.VMM == VMMFirecracker && (s.Room == "" || s.Socket == "" || s.Name == "") {
		err = choir.E(Name+".handle", choir.CodeInvalid, "a handle without the folder of its machine")
	}
	return s, err
}
