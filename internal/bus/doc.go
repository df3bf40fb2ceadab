// Package bus is the guest's side of the bus: subjects, credentials, the boot line, and
// the client of a computer for roles, the CLI and tests. It does not link the server,
// which is in package hub, so that the role binaries stay small.
package bus
