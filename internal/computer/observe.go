package computer

import (
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/verbs"
	"choiros/internal/eventstore"
)

// Observer receives figures about a computer. Except for Committed, its methods are called
// concurrently; they must not block, call the computer or keep their arguments.
type Observer interface {
	eventstore.Observer
	rolehost.Observer
	verbs.Observer
	// Scanned is called after each scan of the workspace, with its duration and error.
	Scanned(took time.Duration, err error)
}

// unobserved is an Observer that does nothing.
type unobserved struct{}

func (unobserved) Appended(time.Duration, error)              {}
func (unobserved) Committed(*choir.Event, choir.Payload, int) {}
func (unobserved) Scanned(time.Duration, error)               {}
func (unobserved) Answered(choir.Verb, time.Duration, error)  {}
func (unobserved) EgressRefused()                             {}
func (unobserved) SandboxFailed(role choir.Role, err error)   {}
