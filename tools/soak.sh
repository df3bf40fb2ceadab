#!/bin/sh
# Runs every fuzz target for FUZZTIME, then all tests ROUNDS times in random
# order with the race detector, then kills each process at every step of every
# run and does what else takes too long for each day. Stops at the first failure.
# PART="fuzz race steps large cluster maintenance cgroup2 quota microvm attacks agents random" names the parts that are run, all
# without it. The last line is the sum.
set -eu
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-30s}
rounds=${ROUNDS:-5}
every="fuzz race steps large cluster maintenance cgroup2 quota microvm attacks agents random"
wanted=${PART:-$every}
began=$(date +%s)
targets=0
part="reading PART"

sum() { # CODE
	outcome=passed
	if [ "$1" != 0 ]; then outcome="FAILED at $part"; fi
	echo "soak: $outcome, $targets fuzz targets for $fuzztime each, $rounds rounds of all tests wanted, parts: $wanted, $(($(date +%s) - began)) s"
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

# wants reports whether a part is to be run.
wants() { # NAME
	case " $wanted " in *" $1 "*) return 0 ;; esac
	return 1
}

for name in $wanted; do
	case " $every " in
	*" $name "*) ;;
	*) echo "soak.sh: there is no part $name; PART takes some of: $every" >&2; exit 2 ;;
	esac
done

if wants fuzz; then
	part="listing the fuzz targets"
	listed=$(go test -list '^Fuzz' ./...) || { echo "$listed" >&2; exit 1; }
	# A package is named after its targets.
	for pair in $(echo "$listed" | awk '/^Fuzz/ { names[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print $2 ":" names[i]; n = 0 }'); do
		package=${pair%:*} target=${pair##*:}
		part="fuzz $package $target"
		echo "$part for $fuzztime"
		fuzz "$package" "$target"
		targets=$((targets + 1))
	done
fi

if wants race; then
	part="the tests with the race detector"
	go test -race -shuffle=on -count="$rounds" -timeout 2h ./...
fi

if wants steps; then
	part="a kill at every step"
	CHOIR_TEST_EVERY_STEP=1 go test -count=1 -timeout 3h ./cmd/choir ./internal/director
fi

if wants large; then
	part="large trees and files"
	CHOIR_TEST_EVENTS=100000 go test -count=1 -run '^TestALongLogDoesNotSlowTheStart$' ./internal/director
	CHOIR_TEST_LARGE=1 go test -count=1 -timeout 1h -run '^Test(ManyFilesGoBack|ALargeFileGoesBack)$' ./internal/computer
	CHOIR_TEST_LARGE=1 go test -count=1 -timeout 1h -run '^TestTasks$/^a_project_full_of_history$' ./cmd/choir
fi

if wants cluster; then
	part="faults of cluster nodes"
	CHOIR_CLUSTER_ROUNDS=${CLUSTER_ROUNDS:-100} go test -count=1 -timeout 1h -run '^TestNothingAcknowledgedIsLostInACluster$' ./internal/bus/cluster
fi

if wants maintenance; then
	part="maintenance, appends and kills of a log at once"
	go test -race -count=1 -timeout 1h -run '^TestMaintenanceAppendsAndKillsAtOnce$' ./internal/eventstore -rapid.checks=100
fi

if wants cgroup2; then
	part="cgroup version 2 under another kernel"
	tools/vm.sh cgroup2
fi

if wants quota; then
	part="disk limits under another kernel"
	tools/vm.sh quota
fi

if wants microvm; then
	part="the suite of sandboxes in virtual machines"
	go test -count=1 -timeout 2h ./internal/sandbox/microvm -whole -v -run '^(TestMicroVM|TestFirecracker)$'
	part="the vsock of virtual machines under another kernel"
	tools/vm.sh vsock
	part="a computer that moves to a virtual machine and back"
	go test -count=1 -timeout 1h ./cmd/choir -run '^TestAComputerMovesToAVirtualMachineAndBack$' -machines
fi

if wants attacks; then
	part="the attacks on every rung of the isolation ladder that this machine has"
	make --no-print-directory attack RUNGS="local gvisor container microvm"
fi

if wants agents; then
	part="installing the agent programs of tools/agents"
	mkdir -p .cache/agents
	cp tools/agents/package.json tools/agents/package-lock.json .cache/agents/
	(cd .cache/agents && npm ci --silent --no-audit --no-fund --ignore-scripts)
	part="agent programs through the model gateway"
	CHOIR_TEST_AGENTS="$PWD/.cache/agents" go test -count=1 -timeout 15m -v -run '^TestAgentProgramsWorkThroughTheGateway$' ./internal/control/modelgw
fi

if wants random; then
	part="the crash matrix at random moments"
	tools/crash.sh -random -rows "${CRASH_ROWS:-5000}"
fi
