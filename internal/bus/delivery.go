package bus

import "choiros/internal/choir"

// DeliveryKind says what control wants of a worker.
type DeliveryKind string

// The kinds of delivery.
const (
	DeliverRun    DeliveryKind = "run"    // a run needs the Director's attention
	DeliverTask   DeliveryKind = "task"   // a task is to be executed; Event is its task.dispatched
	DeliverCancel DeliveryKind = "cancel" // a run, or one task of it, was stopped
)

// Delivery is one message on task.<uid>.<cid>.<role>. Control sends it after
// the event that causes it is committed, and again until the answering event
// is: a worker must expect the same delivery more than once.
type Delivery struct {
	Kind  DeliveryKind `json:"kind" choir:"enum=run|task|cancel" doc:"What is wanted."`
	Run   choir.ID     `json:"run,omitempty" choir:"id" doc:"The run."`
	Task  choir.ID     `json:"task,omitempty" choir:"id" doc:"The task."`
	Event *choir.Event `json:"event,omitempty" doc:"The task.dispatched event of kind task."`
}

// Check holds the rules that lie between fields; choir.DecodeStrict calls it.
func (d *Delivery) Check() error {
	switch {
	case d.Kind == DeliverTask && d.Event == nil:
		return choir.Invalid("event", "is required for kind task")
	case d.Kind != DeliverTask && d.Run == "":
		return choir.Invalid("run", "is required for kind %s", d.Kind)
	}
	return nil
}
