//go:build faultpoints

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"choiros/internal/fault"
)

// followFaults starts the fault plan that the crash matrix passes to this process in env.
func followFaults(env func(string) string) error {
	clockFile = env("CHOIR_CLOCK")
	return fault.Follow(env("CHOIR_FAULT"))
}

// clockFile is a file with the seconds to add to the clock; empty for none.
var clockFile string

func now() time.Time {
	at := time.Now()
	if clockFile == "" {
		return at
	}
	raw, err := os.ReadFile(clockFile)
	if err != nil {
		return at
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return at
	}
	// Without the monotonic reading, as after a step of the machine's clock.
	return at.Round(0).Add(time.Duration(seconds) * time.Second)
}
