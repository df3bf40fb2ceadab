package sprites

import (
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// handleVersion is the version of state. It must be raised when the meaning of a field
// changes.
const handleVersion = 1

// state is the content of a handle.
type state struct {
	Sprite string `json:"sprite"`
	// Service is the host name of the service that has the sprite.
	Service  string `json:"service"`
	Sudo     bool   `json:"sudo,omitempty"` // programs there are run by a user who may become root
	Kernel   string `json:"kernel"`         // release of the sprite's
	Landlock int    `json:"landlock,omitempty"`
}

func encodeHandle(s state) sandbox.Handle { return host.EncodeHandle(Name, handleVersion, s) }

func decodeHandle(h sandbox.Handle) (state, error) {
	s, err := host.DecodeHandle[state](h, Name, handleVersion)
	if err == nil && (!strings.HasPrefix(s.Sprite, namePrefix) || s.Service == "") {
		err = choir.E(Name+".handle", choir.CodeInvalid, "a handle without a sprite of choir's")
	}
	return s, err
}
