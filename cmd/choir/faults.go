//go:build faultpoints

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"choiros/internal/fault"
)

// followFaults takes up what the crash matrix has planned for this process.
func followFaults(env func(string) string) error {
	clockFile = env("CHOIR_CLOCK")
	return fault.Follow(env("CHOIR_FAULT"))
}

// clockFile holds the seconds by which the clock is wrong; empty for none.
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
