package main

import "testing"

func TestBusyProcessors(t *testing.T) {
	start := readProcessorTime("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n")
	end := readProcessorTime("cpu  200 10 150 710 130 5 5 0 0 0\n")
	for _, c := range []struct {
		name       string
		start, end processorTime
		want       string
	}{
		{"170 of 210 ticks", start, end, ", processors 80 % busy"},
		{"no time passed", start, start, ""},
		{"unknown at the start", processorTime{}, end, ""},
		{"unknown at the end", start, readProcessorTime("intr 5"), ""},
	} {
		if got := describeBusy(c.start, c.end); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
