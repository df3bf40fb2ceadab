// Package hub is the trusted half of the bus: an embedded NATS server with
// JetStream that listens nowhere, the credentials it mints, the doors through
// which sandboxes and browsers reach it, the relay that delivers committed
// events, and the responder that answers commands.
package hub
