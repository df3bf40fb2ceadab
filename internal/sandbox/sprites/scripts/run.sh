#!/bin/sh
# Runs the sandbox, and holds the lock on alive, file descriptor 9, until it has ended.
computer=$1
workspace=$2
shift 2
guest/choir-init listen "$PWD/doors/control.sock" "$(command -v unshare)" \
	--mount --pid --net --ipc --uts --fork --kill-child=KILL -- /bin/sh ./enter.sh "$computer" "$workspace" "$@" 9>&-
echo "the sandbox ended with code $?"
rm -f doors/control.sock
