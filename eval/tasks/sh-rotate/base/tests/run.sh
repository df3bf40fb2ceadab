#!/bin/sh
# Tries bin/rotate in a folder of its own.
set -eu
rotate=$(pwd)/bin/rotate
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo one >log
sh "$rotate" log 3
test "$(cat log.1)" = one
echo two >log
sh "$rotate" log 3
test "$(cat log.1 log.2)" = "$(printf 'two\none')"
echo ok
