#!/bin/sh
# Prints the number of processes in the sandbox, their resident pages, and the ticks that they
# and their ended children have run.
set -eu
cd /var/lib/choir
for own in /proc/[0-9]*; do
	name=
	read -r name <"$own/comm" 2>/dev/null || continue
	test "$name" = choir-init && inside=$(readlink "$own/ns/pid") && test "$inside" != "$(readlink /proc/self/ns/pid)" && break
	inside=
done
test -n "$inside"
count=0 pages=0 ticks=0
for own in /proc/[0-9]*; do
	test "$(readlink "$own/ns/pid" 2>/dev/null)" = "$inside" || continue
	memory= times=
	{ read -r memory <"$own/statm" && read -r times <"$own/stat"; } 2>/dev/null || continue
	set -- $memory
	resident=$2
	set -- ${times##*) }
	count=$((count + 1)) pages=$((pages + resident)) ticks=$((ticks + ${12} + ${13} + ${14} + ${15}))
done
echo "$count $pages $ticks $(getconf PAGESIZE) $(getconf CLK_TCK)"
