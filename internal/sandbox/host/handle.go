package host

import (
	"bytes"
	"encoding/json"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// EncodeHandle returns the handle of a driver's sandbox with the given state, which must be of
// strings, numbers and the like.
func EncodeHandle(driver string, version int, state any) sandbox.Handle {
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return sandbox.Handle{Driver: driver, Version: version, State: raw}
}

// DecodeHandle returns the state in a handle of a driver. Code invalid: the handle is another
// driver's or version's, or its state cannot be read.
func DecodeHandle[S any](h sandbox.Handle, driver string, version int) (state S, err error) {
	op := driver + ".handle"
	if h.Driver != driver || h.Version != version {
		return state, choir.E(op, choir.CodeInvalid, "a handle of %s, version %d, is not one of %s, version %d",
			h.Driver, h.Version, driver, version)
	}
	dec := json.NewDecoder(bytes.NewReader(h.State))
	dec.DisallowUnknownFields()
	err = dec.Decode(&state)
	return state, choir.Wrap(op, choir.CodeInvalid, err, "read a handle")
}
