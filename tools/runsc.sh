#!/bin/sh
# Builds runsc (gVisor) for the tests into .cache/runsc, once for each version, from the Go
# module proxy. Says nothing when it is there. The version is that of the driver.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^const Pinned = "\(.*\)"$/\1/p' internal/sandbox/gvisor/level.go)
if [ "$(cat .cache/runsc/version 2>/dev/null)" = "$version" ]; then exit 0; fi
if [ "$(uname -s)" != Linux ]; then exit 0; fi # where it does not run, its tests say so
mkdir -p .cache/runsc
rm -f .cache/runsc/version
if ! log=$(GOBIN="$PWD/.cache/runsc" GOFLAGS=-trimpath CGO_ENABLED=0 go install -ldflags='-s -w' "gvisor.dev/gvisor/runsc@$version" 2>&1); then
	echo "$log" | tail -n 20 >&2
	echo "runsc: it could not be built; the tests of gVisor are skipped" >&2
	exit 0
fi
echo "$version" >.cache/runsc/version
