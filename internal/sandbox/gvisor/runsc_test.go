package gvisor_test

import (
	"testing"
)

func runsc(t testing.TB) string { return "/work/h/tmp-gvisor/bin/runsc" }
