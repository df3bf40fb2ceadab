// Package host has the common parts of the drivers of Linux: how a sandbox is made, found and
// removed (Driver, Maker, Parts), processes that a reused number does not stand for, cgroups of
// every version, the control door's socket, and the root folder of sandboxes. It knows no kind of
// isolation.
package host
