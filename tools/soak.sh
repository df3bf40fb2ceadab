#!/bin/sh
# Runs every fuzz target for FUZZTIME, then all tests ROUNDS times in random
# order with the race detector, then kills each process at every step of every
# run and does what else takes too long for each day. Stops at the first failure.
# The last line is the sum.
set -eu
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-30s}
rounds=${ROUNDS:-5}
began=$(date +%s)
targets=0
part="listing the fuzz targets"

sum() { # CODE
	outcome=passed
	if [ "$1" != 0 ]; then outcome="FAILED at $part"; fi
	echo "soak: $outcome, $targets fuzz targets for $fuzztime each, $rounds rounds of all tests wanted, $(($(date +%s) - began)) s"
}
trap 'sum $?' EXIT
trap 'exit 130' INT TERM

# A race in the fuzzing of Go before 1.27 (golang/go#75804) turns the end of
# FUZZTIME into a failure now and then. It finds nothing, so once more decides.
fuzz() { # PACKAGE TARGET
	for _ in 1 2; do
		if said=$(go test -run '^$' -fuzz "^$2\$" -fuzztime "$fuzztime" "$1" 2>&1); then return 0; fi
		case $said in *"Failing input"* | *panic*) break ;; *"context deadline exceeded"*) ;; *) break ;; esac
	done
	echo "$said" >&2
	return 1
}

listed=$(go test -list '^Fuzz' ./...) || { echo "$listed" >&2; exit 1; }
# A package is named after its targets.
for pair in $(echo "$listed" | awk '/^Fuzz/ { names[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print $2 ":" names[i]; n = 0 }'); do
	package=${pair%:*} target=${pair##*:}
	part="fuzz $package $target"
	echo "$part for $fuzztime"
	fuzz "$package" "$target"
	targets=$((targets + 1))
done

part="the tests with the race detector"
go test -race -shuffle=on -count="$rounds" -timeout 2h ./...

part="a kill at every step"
CHOIR_TEST_EVERY_STEP=1 go test -count=1 -timeout 3h ./cmd/choir ./internal/director

part="large trees and files"
CHOIR_TEST_EVENTS=100000 go test -count=1 -run '^TestALongLogDoesNotSlowTheStart$' ./internal/director
CHOIR_TEST_LARGE=1 go test -count=1 -timeout 1h -run '^Test(ManyFilesGoBack|ALargeFileGoesBack)$' ./internal/computer
CHOIR_TEST_LARGE=1 go test -count=1 -timeout 1h -run '^TestTasks$/^a_project_full_of_history$' ./cmd/choir

part="faults of cluster nodes"
CHOIR_CLUSTER_ROUNDS=100 go test -count=1 -timeout 1h -run '^TestNothingAcknowledgedIsLostInACluster$' ./internal/bus/cluster

part="maintenance, appends and kills of a log at once"
go test -race -count=1 -timeout 1h -run '^TestMaintenanceAppendsAndKillsAtOnce$' ./internal/eventstore -rapid.checks=100

part="the crash matrix at random moments"
tools/crash.sh -random -rows "${CRASH_ROWS:-5000}"
