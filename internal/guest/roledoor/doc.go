// Package roledoor gives a role its streams to the control plane. choir-init
// makes a pair of connected sockets with the role's process and hands it one
// end: whoever asks there is that process, because no other one has the
// descriptor. Nothing is looked up, and a process number plays no part.
//
// For each stream the role sends the name of a door and a socket to answer at.
// Init answers with the descriptor of a stream, which from then on is the role's
// own, so that its bytes do not pass through init.
package roledoor

// Door names what a stream leads to.
type Door string

// The doors of the control plane.
const (
	Bus    Door = "bus"    // NATS, for roles only
	Egress Door = "egress" // HTTP: the model gateway and the proxy
)

// FD is the number of the descriptor in the role's process.
const FD = 3

// maxName bounds the name of a door on the wire, in bytes.
const maxName = 32
