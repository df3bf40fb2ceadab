// Package roledoor gives a role its streams to the control plane. choir-init makes a
// pair of connected sockets with the role's process and hands it one end: a request
// there is from that process, because no other one has the descriptor. Nothing is
// looked up, and a process number plays no part.
//
// For each stream the role sends the name of a door and a socket to answer at. Init
// answers with the descriptor of a stream, which from then on is the role's own, so
// that its bytes do not pass through init.
package roledoor

// Door is the name of a destination of streams.
type Door string

// The doors of the control plane.
const (
	Bus    Door = "bus"    // NATS, for roles only
	Egress Door = "egress" // HTTP: the model gateway and the proxy
)

// FD is the number of the door's descriptor in the role's process.
const FD = 3

// maxName is the maximal length of a door's name on the wire, in bytes.
const maxName = 32
