// Package host has what the drivers of Linux share: processes that a reused number does not
// stand for, cgroups of every version, the control door's socket, and the root folder of
// sandboxes. It knows no kind of isolation.
package host
