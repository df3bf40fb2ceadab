package bench

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestJSONShape names every member of a row.
func TestJSONShape(t *testing.T) {
	want := strings.Fields(`bench case unit n warmup median p95 p99 failures peer peer_median ratio
		target target_op met skipped durable isolated host versions`)
	raw, err := json.Marshal(Row{})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("a row has no %s", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("a row has %d members, not %d: %s", len(got), len(want), raw)
	}
	for _, name := range []string{"peer_median", "ratio", "target", "met"} {
		if string(got[name]) != "null" {
			t.Errorf("%s of an empty row is %s", name, got[name])
		}
	}
}

func TestJudge(t *testing.T) {
	ratio := func(v float64) *float64 { return &v }
	yes, no := true, false
	for _, c := range []struct {
		name string
		row  Row
		met  *bool
	}{
		{"met", Row{Bench: "tti", Case: "sequential", N: 1, Ratio: ratio(2)}, &yes},
		{"missed", Row{Bench: "tti", Case: "sequential", N: 1, Ratio: ratio(2.01)}, &no},
		{"a failure", Row{Bench: "tti", Case: "sequential", N: 2, Failures: 1, Ratio: ratio(1)}, &no},
		{"no peer", Row{Bench: "tti", Case: "sequential", N: 1, Skipped: "absent"}, nil},
		{"no samples", Row{Bench: "task", Case: "one task", Skipped: "absent"}, nil},
		{"more is better", Row{Bench: "append", Case: "64 writers", N: 1, Ratio: ratio(10)}, &yes},
		{"too little", Row{Bench: "append", Case: "64 writers", N: 1, Ratio: ratio(9.9)}, &no},
		{"an absolute target needs no peer", Row{Bench: "log-size", Case: "10,000,000 events, open", N: 1, Median: 1000}, &yes},
		{"the slowest in time", Row{Bench: "deliver", Case: "commit to page, p99", N: 1, Median: 40, P99: 25}, &yes},
		{"the slowest too late", Row{Bench: "deliver", Case: "commit to page, p99", N: 1, Median: 1, P99: 25.1}, &no},
		{"no target", Row{Bench: "append", Case: "16 writers", N: 1, Ratio: ratio(1)}, nil},
	} {
		if c.row.Ratio != nil {
			c.row.PeerMedian = ratio(1)
		}
		c.row.judge()
		if !reflect.DeepEqual(c.row.Met, c.met) {
			t.Errorf("%s: %+v", c.name, c.row)
		}
		if text := c.row.text(); !strings.Contains(text, c.row.Case) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}
