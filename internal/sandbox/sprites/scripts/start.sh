#!/bin/sh
# Starts the sandbox of a sprite, as the sprite's root, and stays until it has ended, as
# watch.sh does. Arguments: the computer's id; "workspace" or "none"; and the arguments of choir-init.
set -eu
umask 022
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
cd /var/lib/choir
computer=$1
workspace=$2
shift 2
for program in unshare setpriv setsid flock mount umount pivot_root; do
	command -v "$program" >/dev/null || { echo "the sprite has no program $program" >&2; exit 69; }
done
kernel=$(guest/choir-init kernel)
landlock=${kernel##* }
test "$landlock" -lt 2 || set -- --landlock "$@"
exec 9>alive
flock -n 9 || { echo "a sandbox runs in this sprite already" >&2; exit 70; }
mkdir -m 0700 doors
setsid sh ./run.sh "$computer" "$workspace" "$@" </dev/null >log 2>&1 &
exec 9>&-
until test -S doors/control.sock; do
	kill -0 $! 2>/dev/null || { cat log >&2; exit 71; }
	sleep 0.02
done
echo "$kernel"
exec sh ./watch.sh
