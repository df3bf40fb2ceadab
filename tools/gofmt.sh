#!/bin/sh
# Fails and names the files that are not formatted.
set -eu
files=$(gofmt -l "$@")
if [ -n "$files" ]; then
	echo "not formatted, run make fmt:"
	echo "$files"
	exit 1
fi
