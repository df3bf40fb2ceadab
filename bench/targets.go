package bench

import "slices"

// Quantity is the number of a row that a target is about.
type Quantity string

// The quantities.
const (
	Median   Quantity = "median"   // in the row's unit
	Ratio    Quantity = "ratio"    // median by the peer's
	Over     Quantity = "over"     // median less the peer's, in the row's unit
	P99      Quantity = "p99"      // in the row's unit
	Failures Quantity = "failures" // samples that failed
)

// Target is the figure that one case must reach. Anchor is its sentence in ANCHORS; a
// test compares the number with it.
type Target struct {
	Bench, Case string
	Of          Quantity
	Op          string // "<=" or ">="
	Value       float64
	Anchor      string
}

// targets are the numbers of ANCHORS, all of those this package measures.
var targets = []Target{
	{"tti", "sequential", Ratio, "<=", 2, "`local` median <= 2x bare bwrap running the same command in the same run"},
	{"tti", "warm claim", Median, "<=", 2, "claim of a warm one <= 2 ms"},
	{"tti", "claimed", Median, "<=", 2, "claim of a warm one <= 2 ms"},
	{"tti", "burst", Failures, "<=", 0, "0 failures in the burst"},
	{"tti", "gvisor, sequential", Ratio, "<=", 1.5, "`gvisor` <= 1.5x runsc do"},
	{"tti", "container, sequential", Ratio, "<=", 1.5, "`container` <= 1.5x podman run"},
	{"tti", "microvm, sequential", Ratio, "<=", 1.2, "`microvm` <= 1.2x bare QEMU"},
	{"tti", "gvisor, burst", Failures, "<=", 0, "0 failures in the burst"},
	{"tti", "container, burst", Failures, "<=", 0, "0 failures in the burst"},
	{"tti", "microvm, burst", Failures, "<=", 0, "0 failures in the burst"},
	{"append", "64 writers", Ratio, ">=", 10, "at 64 writers, projections on, >= 10x one-transaction-per-event"},
	{"append", "1 writer", Ratio, "<=", 1.2, "1 writer within 1.2x of a bare fdatasync loop of the same bytes"},
	{"replay", "1,500 events", Ratio, "<=", 0.33, "1,500 and 1,000,000 events <= 0.33x of the same events into SQLite"},
	{"replay", "1,000,000 events", Ratio, "<=", 0.33, "1,500 and 1,000,000 events <= 0.33x of the same events into SQLite"},
	{"replay", "linear", Ratio, "<=", 1.5, "per event at 1,000,000 <= 1.5x of that at 1,500"},
	{"log-size", "10,000,000 events, open", Median, "<=", 1000, "a log of 10,000,000 events opens in <= 1 s"},
	{"task", "one task", Ratio, "<=", 1.5, "one task <= 1.5x Restate's one"},
	{"task", "flow of three", Ratio, "<=", 2, "flow of three <= 2x its three"},
	{"task", "one task, above its floor", Ratio, "<=", 1.3, "or either <= 1.3x of its floor"},
	{"task", "flow of three, above its floor", Ratio, "<=", 1.3, "or either <= 1.3x of its floor"},
	{"snapshot", "10,000 files", Ratio, "<=", 0.25, "snapshot <= 0.25x"},
	{"checkpoint", "10,000 files", Ratio, "<=", 0.5, "checkpoint <= 0.5x"},
	{"checkpoint", "10,000 files, above its floor", Ratio, "<=", 1.3, "or the checkpoint <= 1.3x of its floor"},
	{"toolcall", "1,000 files, one changed", Ratio, "<=", 0.2, "around a tool call <= 0.2x git commit of the same change"},
	{"pty", "echo", Over, "<=", 3, "echo p50 <= 3 ms over bare"},
	{"pty", "^C in a flood", Median, "<=", 200, "^C <= 200 ms"},
	{"deliver", "commit to page", Ratio, "<=", 1.5, "p50 <= 1.5x JetStream"},
	{"deliver", "commit to page, p99", P99, "<=", 25, "p99 <= 25 ms"},
	{"desktop", "first contentful paint", Median, "<=", 1000, "paint <= 1 s"},
	{"desktop", "first contentful paint, beside a bare page", Ratio, "<=", 3, "first paint and first input <= 3x those of a bare React page"},
	{"desktop", "first key, beside a bare page", Ratio, "<=", 3, "first paint and first input <= 3x those of a bare React page"},
	{"desktop", "script until the prompt takes keys", Median, "<=", 250, "first load <= 250 KB gzip of script"},
	{"desktop", "longest frame of a drag over ten windows", Failures, "<=", 0, "drag without long tasks"},
	{"desktop", "event to DOM", Median, "<=", 25, "event to DOM p50 <= 25 ms"},
	{"desktop", "live edit", Median, "<=", 300, "edit to pixel <= 300 ms"},
	{"desktop", "live edit from cold", Median, "<=", 3000, "<= 3 s from cold"},
	{"desk", "windows", Ratio, "<=", 1.2, "<= 1.2x of empty"},
	{"desk", "settings", Ratio, "<=", 1.2, "<= 1.2x of empty"},
	{"desk", "documents", Ratio, "<=", 1.2, "<= 1.2x of empty"},
	{"desk", "a folder's listing", Ratio, "<=", 1.2, "<= 1.2x of empty"},
	{"desk", "GET of a changed file", Ratio, "<=", 1.2, "<= 1.2x of empty"},
	{"egress", "a request in a tunnel", Over, "<=", 1, "adds <= 1 ms p50"},
	{"egress", "throughput", Ratio, ">=", 0.8, "passes >= 0.8x of the throughput"},
	{"model", "first token", Over, "<=", 1, "<= 1 ms p50"},
	{"model", "first token, added", P99, "<=", 5, "<= 5 ms p99"},
	{"model", "first token beside 1,000 streams", Over, "<=", 1, "<= 1 ms p50"},
	{"model", "first token beside 1,000 streams, added", P99, "<=", 5, "<= 5 ms p99"},
	{"density", "each of 100 computers, idle", Median, "<=", 25, "<= 25 MB idle resident"},
	{"density", "each of 100 computers, hibernated", Median, "<=", 1, "<= 1 MB hibernated"},
	{"wake", "idle", Median, "<=", 5, "<= 5 ms idle"},
	{"wake", "frozen", Over, "<=", 5, "thaw <= 5 ms"},
	{"wake", "hibernated, until a terminal is open", Median, "<=", 80, "<= 80 ms hibernated"},
	{"attacks", "all", Failures, "<=", 0, "0 failures: each is refused"},
	{"attacks", "gvisor, all", Failures, "<=", 0, "0 failures: each is refused"},
	{"attacks", "container, all", Failures, "<=", 0, "0 failures: each is refused"},
	{"attacks", "microvm, the short set", Failures, "<=", 0, "0 failures: each is refused"},
	{"rewind", "100 of 1,000 files", Ratio, "<=", 1, "rewind of the whole computer (files, windows, documents) <= 1x `git reset --hard`"},
}

// alternatives are pairs of cases of one benchmark of which one has to meet its target.
var alternatives = []struct{ bench, either, or string }{
	{"task", "one task", "one task, above its floor"},
	{"task", "flow of three", "flow of three, above its floor"},
	{"checkpoint", "10,000 files", "10,000 files, above its floor"},
}

// stillMissed returns the cases of a benchmark that missed their targets, without those of
// which an alternative is among the cases that met theirs.
func stillMissed(bench string, missed, met []string) (left []string) {
	for _, name := range missed {
		saved := false
		for _, a := range alternatives {
			if a.bench == bench {
				saved = saved || a.either == name && slices.Contains(met, a.or) || a.or == name && slices.Contains(met, a.either)
			}
		}
		if !saved {
			left = append(left, name)
		}
	}
	return left
}

func findTarget(bench, name string) (Target, bool) {
	for _, t := range targets {
		if t.Bench == bench && t.Case == name {
			return t, true
		}
	}
	return Target{}, false
}

func (t Target) holds(value float64) bool {
	if t.Op == ">=" {
		return value >= t.Value
	}
	return value <= t.Value
}
