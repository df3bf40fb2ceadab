package computer

import (
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/verbs"
	"choiros/internal/eventstore"
)

// Observer receives figures about a computer while they come up. Its methods are
// called by many goroutines at once, but for Committed; they return at once, call
// nothing of the computer and keep nothing that they are given.
type Observer interface {
	eventstore.Observer
	rolehost.Observer
	verbs.Observer
	// Scanned receives how long one look at the workspace took, and its error.
	Scanned(took time.Duration, err error)
}

// unobserved is the observer of a computer that has none.
type unobserved struct{}

func (unobserved) Appended(time.Duration, error)              {}
func (unobserved) Committed(*choir.Event, choir.Payload, int) {}
func (unobserved) Scanned(time.Duration, error)               {}
func (unobserved) Answered(choir.Verb, time.Duration, error)  {}
func (unobserved) EgressRefused()                             {}
func (unobserved) SandboxFailed(role choir.Role, err error)   {}
