package microvm

import (
	"bytes"
	"encoding/json"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// handleVersion is the version of state. It must be raised when the meaning of a field
// changes.
const handleVersion = 1

// state is the content of a handle. Boot, a pid and a start time together identify the
// process of QEMU.
type state struct {
	Boot   string   `json:"boot"`
	PID    int      `json:"pid"`
	Start  uint64   `json:"start"`
	Doors  string   `json:"doors"`
	Limits string   `json:"limits"` // the limiter's name, of the machine's process
	Groups []string `json:"groups,omitempty"`
	Facts  facts    `json:"facts"`
	// Most is the memory that the sandbox may use.
	Most int64 `json:"most"`
}

func encodeHandle(s state) sandbox.Handle {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return sandbox.Handle{Driver: Name, Version: handleVersion, State: raw}
}

func decodeHandle(h sandbox.Handle) (state, error) {
	const op = "microvm.handle"
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
	if s.Doors == "" || s.PID <= 0 {
		return state{}, choir.E(op, choir.CodeInvalid, "a handle without a process or without doors")
	}
	return s, nil
}
