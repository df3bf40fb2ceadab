#!/bin/sh
# Runs every case: tests/cases/NAME.args (optional) and NAME.in must give NAME.out.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
for input in tests/cases/*.in; do
	name=$(basename "$input" .in)
	args=""
	[ -f "tests/cases/$name.args" ] && args=$(cat "tests/cases/$name.args")
	# shellcheck disable=SC2086 # the arguments of a case are words
	if got=$(sh bin/tally $args <"$input" 2>&1) && [ "$got" = "$(cat "tests/cases/$name.out")" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAIL %s\nwanted:\n%s\ngot:\n%s\n' "$name" "$(cat "tests/cases/$name.out")" "$got"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
