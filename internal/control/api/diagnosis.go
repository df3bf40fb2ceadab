package api

import (
	"bytes"
	"context"
	"net/http"
	"runtime/pprof"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Diagnosis describes a control plane for its maintainer in numbers, ids and codes,
// without any text of a person or a guest.
type Diagnosis struct {
	UptimeS    int64               `json:"uptime_s" doc:"Seconds since start; 0 when it does not run."`
	Failed     []FailedDiagnosis   `json:"failed" doc:"Computers that could not be opened."`
	Computers  []ComputerDiagnosis `json:"computers"`
	Goroutines string              `json:"goroutines,omitempty" doc:"What the process does, as Go's profile of goroutines."`
}

// FailedDiagnosis is a computer that could not be opened.
type FailedDiagnosis struct {
	ID   choir.ID   `json:"id"`
	Code choir.Code `json:"code"`
}

// ComputerDiagnosis is the state of one computer in a Diagnosis.
type ComputerDiagnosis struct {
	ID        choir.ID             `json:"id"`
	Log       eventstore.Figures   `json:"log"`
	ReadOnly  bool                 `json:"read_only"`
	Events    map[choir.Type]int64 `json:"events" doc:"How many events of each type the log has."`
	Runs      int                  `json:"open_runs"`
	Tasks     int                  `json:"open_tasks"`
	Files     int64                `json:"workspace_files" doc:"At the newest snapshot."`
	Bytes     int64                `json:"workspace_bytes" doc:"At the newest snapshot."`
	Sandboxes []SandboxDiagnosis   `json:"sandboxes"`
	Unread    choir.Code           `json:"unread,omitempty" doc:"Why the log could not be asked for the rest."`
}

// SandboxDiagnosis is the state of one sandbox in a Diagnosis.
type SandboxDiagnosis struct {
	Role    choir.Role `json:"role" enum:"director,associate"`
	Running bool       `json:"running"`
	Serving bool       `json:"serving" doc:"Its role's own process runs."`
	Driver  string     `json:"driver,omitempty"`
	Level   string     `json:"level,omitempty"`
	Why     choir.Code `json:"why,omitempty" doc:"Why it did not start the last time."`
}

func (a *API) diagnosis(h huma.API) {
	huma.Register(h, op("getDiagnosis", http.MethodGet, "/api/diagnosis", "Say in numbers and codes what a maintainer asks; for the CLI only", 200),
		func(ctx context.Context, _ *struct{}) (*body[Diagnosis], error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			return answer(a.diagnose(ctx))
		})
}

// diagnose collects the diagnosis of the control plane and its computers.
func (a *API) diagnose(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{UptimeS: a.sys.Health(ctx).UptimeS, Failed: []FailedDiagnosis{}, Computers: []ComputerDiagnosis{}}
	for _, f := range a.sys.Failed() {
		d.Failed = append(d.Failed, FailedDiagnosis{f.ID, choir.CodeOf(f.Why)})
	}
	for _, c := range a.sys.Computers() {
		d.Computers = append(d.Computers, diagnoseComputer(ctx, c))
	}
	var stacks bytes.Buffer
	err := pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	d.Goroutines = stacks.String()
	return d, choir.Wrap("api.diagnosis", choir.CodeInternal, err, "write down what the process does")
}

// diagnoseComputer collects the diagnosis of a computer. An error of its log is reported
// in Unread.
func diagnoseComputer(ctx context.Context, c Computer) ComputerDiagnosis {
	log := c.Log
	d := ComputerDiagnosis{ID: c.ID, Log: log.Figures(), ReadOnly: log.ReadOnly() != "", Events: map[choir.Type]int64{}}
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		level, running := c.Roles.Level(role)
		d.Sandboxes = append(d.Sandboxes, SandboxDiagnosis{role, running, c.Roles.Serving(role), level.Driver, level.Name, choir.CodeOf(c.Roles.Failure(role))})
	}
	events, err := log.Counts(ctx)
	if err != nil {
		d.Unread = choir.CodeOf(err)
		return d
	}
	d.Events = events
	runs, runsErr := log.OpenRuns(ctx)
	tasks, tasksErr := log.OpenTasks(ctx)
	newest, newestErr := log.LastTaken(ctx)
	d.Runs, d.Tasks, d.Files, d.Bytes = len(runs), len(tasks), newest.Files, newest.Bytes
	for _, err := range []error{runsErr, tasksErr, newestErr} {
		if err != nil {
			d.Unread = choir.CodeOf(err)
		}
	}
	return d
}
