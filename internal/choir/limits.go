package choir

// RunLimits bound one run. Zero means the default of DefaultRunLimits.
type RunLimits struct {
	Steps   int     `json:"steps,omitempty" choir:"range=1..100000" doc:"Model calls of the Director."`
	Calls   int     `json:"calls,omitempty" choir:"range=1..1000000" doc:"Model calls of everyone together."`
	Tokens  int64   `json:"tokens,omitempty" choir:"range=1..1000000000000" doc:"Input and output tokens of everyone together."`
	Seconds int     `json:"seconds,omitempty" choir:"range=1..604800" doc:"Seconds of work, without waiting for the user."`
	CostUSD float64 `json:"cost_usd,omitempty" choir:"range=0..1000000" doc:"US dollars of everyone together."`
	Tasks   int     `json:"tasks,omitempty" choir:"range=1..10000" doc:"Tasks sent to the Associate."`
}

// MaxCostUSD is the highest cost limit in US dollars; it means that there is no limit.
const MaxCostUSD = 1_000_000

// DefaultRunLimits returns the limits of a run without limits of its own.
func DefaultRunLimits() RunLimits {
	return RunLimits{Steps: 60, Calls: 1000, Tokens: 2_000_000, Seconds: 3600, CostUSD: 5, Tasks: 40}
}

// WithDefaults returns a copy of the limits in which each field that is zero or negative
// has its default.
func (l RunLimits) WithDefaults() RunLimits {
	d := DefaultRunLimits()
	if l.Steps <= 0 {
		l.Steps = d.Steps
	}
	if l.Calls <= 0 {
		l.Calls = d.Calls
	}
	if l.Tokens <= 0 {
		l.Tokens = d.Tokens
	}
	if l.Seconds <= 0 {
		l.Seconds = d.Seconds
	}
	if l.CostUSD <= 0 {
		l.CostUSD = d.CostUSD
	}
	if l.Tasks <= 0 {
		l.Tasks = d.Tasks
	}
	return l
}
