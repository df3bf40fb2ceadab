// Package cluster keeps a second copy of a computer's log in a NATS cluster:
// one stream of three replicas to a computer, in which an event's sequence
// number is its sequence number in the log. The copy only follows: it is never
// read to serve anybody, and nothing in it is changed or removed from here.
package cluster
