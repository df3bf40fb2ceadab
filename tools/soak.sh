#!/bin/sh
# Runs every fuzz target for FUZZTIME, then all tests ROUNDS times in random
# order with the race detector, then kills each process at every step of every
# run and does what else takes too long for each day. Stops at the first failure.
set -eu
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-30s}
rounds=${ROUNDS:-5}

go list ./... | while read -r package; do
	go test -list '^Fuzz' "$package" </dev/null | sed -n '/^Fuzz/p' | while read -r target; do
		echo "fuzz $package $target for $fuzztime"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$package" </dev/null
	done
done
go test -race -shuffle=on -count="$rounds" -timeout 2h ./...
make --no-print-directory guest
CHOIR_TEST_EVERY_STEP=1 go test -count=1 -timeout 3h ./cmd/choir
