package sandboxtest

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// Demand is a property that a case of the suite requires of a driver beyond the contract
// of sandbox.Driver and choir-init's server.
type Demand string

// The demands.
const (
	// Isolation: the kernel keeps what is inside from what is outside.
	Isolation Demand = "isolation"
	// HostKernel: the kernel inside is the host's, so that what it tells of the host must be
	// hidden.
	HostKernel Demand = "the host's kernel"
	// ClosedPrograms: the kernel inside runs programs that may not be read.
	ClosedPrograms Demand = "programs that nobody may read"
	// FewNumbers: the numbers of processes can be used up within a test.
	FewNumbers Demand = "process numbers that are soon used again"
	// ExactCount: the limit of processes holds to the last one, and not about.
	ExactCount Demand = "an exact count of processes"
	// OneVictim: what takes too much memory ends alone, and the rest of its sandbox lives on.
	OneVictim Demand = "memory that ends one process"
	// LastingInit: no program ends the first process by SIGKILL.
	LastingInit Demand = "a first process that SIGKILL does not end"
	// OneHost: sandboxes are on the machine of their control plane.
	OneHost Demand = "this machine"
	// Processes: programs are processes, and a control plane can die alone.
	Processes Demand = "processes"
)

// Demands maps the cases that require more than the contract to what they require. Every
// driver must pass the other cases.
var Demands = map[string]Demand{
	"profile":   Isolation,
	"director":  Isolation,
	"calls":     Isolation,
	"init":      Isolation,
	"doors":     Isolation,
	"inherited": Isolation,

	"profile/the host's start and hardware are hidden":                    HostKernel,
	"profile/guest binaries are unreadable":                               ClosedPrograms,
	"doors/a caller is who opened the stream/what is open is not listed":  HostKernel,
	"doors/a caller is who opened the stream/when numbers are used again": FewNumbers,
	"limits/fork bomb/to the last process":                                ExactCount,
	"limits/memory hog/ends alone":                                        OneVictim,
	"limits/signals to the first process":                                 LastingInit,
	"limits/zombies/count as processes":                                   ExactCount,

	"limits": Isolation,

	"lifecycle/the end of PID 1 is the end":                 Processes,
	"lifecycle/links of an earlier start lead nowhere":      Isolation,
	"lifecycle/a failed create leaves nothing":              Processes,
	"survival/recovered after the control plane was killed": Processes,
	"survival/ended by itself when nobody came":             Processes,
	"survival/ends before the control plane":                OneHost,
	"survival/refused without file descriptors":             OneHost,
	"survival/refused without process ids":                  OneHost,
	"survival/refused without room on the disk":             OneHost,
	"survival/ended with the maker while it was made":       OneHost,
	"survival/ended with the maker when nobody dialled it":  OneHost,
	"survival/destroyed after a kill in the middle of it":   OneHost,
	"paused/stands still and goes on":                       Processes,
	"paused/whatever its programs do":                       Processes,
	"paused/while much is sent to it":                       Processes,
	"paused/killed with its control plane":                  Processes,
}

// Outcome records which cases of a suite were run and which were skipped.
type Outcome struct {
	whole bool // no case was left out by -test.run or a failure

	mu      sync.Mutex // guards what follows
	ran     []string
	skipped map[string]string // with the reason
}

func newOutcome() *Outcome { return &Outcome{skipped: map[string]string{}} }

// Ran returns the names of the cases that were run, without the skipped ones.
func (o *Outcome) Ran() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.ran)
}

// Check fails the test unless exactly the cases with one of the lacking demands were
// skipped, each with a reason, and all others were run. After a partial run (-test.run)
// it checks nothing.
func (o *Outcome) Check(t *testing.T, lacking ...Demand) {
	t.Helper()
	if !o.whole {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, d := range Demands {
		reason, skipped := o.skipped[name]
		if parent, _, nested := strings.Cut(name, "/"); nested && o.skipped[parent] != "" {
			continue // it was skipped with that
		}
		switch {
		case slices.Contains(lacking, d) != skipped || skipped && reason == "":
			t.Errorf("%q, which demands %s: skipped %v, for %q", name, d, skipped, reason)
		case !skipped && !slices.Contains(o.ran, name):
			t.Errorf("%q was not run", name)
		}
	}
	for name := range o.skipped {
		if Demands[name] == "" {
			t.Errorf("%q demands the contract alone and was skipped", name)
		}
	}
}

// part wraps a case: it records whether the case is run, and skips it if the driver lacks
// what it demands.
func (s suite) part(run func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		_, name, _ := strings.Cut(t.Name(), "/")
		name = strings.ReplaceAll(name, "_", " ")
		if why := s.lacks[Demands[name]]; why != "" {
			s.out.note(func(o *Outcome) { o.skipped[name] = why })
			t.Skip(why)
		}
		if s.only != nil && !slices.Contains(s.only, name) {
			t.Skip(s.why)
		}
		s.out.note(func(o *Outcome) { o.ran = append(o.ran, name) })
		run(t)
	}
}

func (o *Outcome) note(what func(*Outcome)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what(o)
}
