// Package hub is the control plane's side of the bus: an embedded NATS server with
// JetStream that listens on no port, its credentials, the doors through which sandboxes
// and browsers connect, the relay that publishes committed events, and the responder that
// answers commands.
package hub
