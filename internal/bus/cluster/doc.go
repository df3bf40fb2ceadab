// Package cluster copies a computer's log to a NATS cluster: one stream with three
// replicas for each computer, in which message n is event n. The copy is only written; it
// is read to compare and to restore, and nothing in it is changed or removed.
package cluster
