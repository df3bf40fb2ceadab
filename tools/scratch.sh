#!/bin/sh
# Runs a command with its temporary folders in memory, where root may mount and 8
# GiB are free, otherwise where they always are, and removes them when it ends. The
# tests remove each file a moment after they made it, and a disk's file system takes
# most of their time for that: ext4 looks through all inodes that were freed in the
# last seconds for each file that is made. The mount is in a namespace of the
# command's own, so that it is gone with the command however that ends. SCRATCH=disk
# leaves them on the disk, as the soak does.
set -eu
case ${1:-} in
"") echo "usage: scratch.sh COMMAND..." >&2; exit 2 ;;
--inside)
	shift
	mount -t tmpfs -o mode=1777 choir-test "$TMPDIR"
	exec "$@"
	;;
esac
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/choir-test-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' HUP INT TERM
chmod 1777 "$TMPDIR"
free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null || true)
if [ "${SCRATCH:-}" != disk ] && [ "${free:-0}" -gt 8388608 ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	echo "temporary folders: in memory"
	unshare -m "$0" --inside "$@"
else
	echo "temporary folders: $TMPDIR"
	"$@"
fi
