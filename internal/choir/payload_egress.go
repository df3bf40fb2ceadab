package choir

// EgressScope says how long and for what a grant holds.
type EgressScope string

// The scopes of grants.
const (
	EgressForTask EgressScope = "task"   // until the task has its answer
	EgressForRun  EgressScope = "run"    // until the run has ended
	EgressAlways  EgressScope = "always" // until it is revoked, for every program in the Associate's sandbox
)

// EgressGranted lets programs reach a host that the policy refuses. Its run, and its task
// where the scope is task, are those of the event.
type EgressGranted struct {
	Grant   ID          `json:"grant" choir:"id7" doc:"The grant."`
	Host    string      `json:"host" choir:"len=1..300" doc:"The host, exactly: no other name and none below it."`
	Port    int         `json:"port" choir:"range=1..65535" doc:"Its port."`
	Scope   EgressScope `json:"scope" choir:"enum=task|run|always" doc:"For what: the event's task, all tasks of the event's run, or every program."`
	Expires Time        `json:"expires,omitempty" doc:"When it ends by itself; absent where it ends with its task or run, or is revoked."`
}

// EgressRevoked ends a grant before its time.
type EgressRevoked struct {
	Grant ID     `json:"grant" choir:"id7" doc:"The grant."`
	Host  string `json:"host" choir:"len=1..300" doc:"Its host."`
	Port  int    `json:"port" choir:"range=1..65535" doc:"Its port."`
}

// EgressDenied answers a request for a host with no. The runs that asked do not ask for it
// again.
type EgressDenied struct {
	Host string `json:"host" choir:"len=1..300" doc:"The host."`
	Port int    `json:"port" choir:"range=1..65535" doc:"Its port."`
}

// EventType implements Payload.
func (EgressGranted) EventType() Type { return "egress.granted" }

// EventType implements Payload.
func (EgressRevoked) EventType() Type { return "egress.revoked" }

// EventType implements Payload.
func (EgressDenied) EventType() Type { return "egress.denied" }
