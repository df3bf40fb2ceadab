// Package bus is the guest-safe half of the bus: subjects, credentials, the
// boot line and the client that a role, the CLI or a test uses to talk to a
// computer. It links nats.go and nothing of the server, so that the role
// binaries stay small; the server is in package hub beside it.
package bus
