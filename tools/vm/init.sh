#!/bin/sh
# The first process of the machine. The root folder that the kernel unpacks cannot
# be left with pivot_root(2), as bubblewrap does; so everything moves to another.
if [ "${1:-}" != moved ]; then
	mount -t tmpfs -o size=80%,mode=755 tmpfs /mnt
	for path in /*; do
		case $path in /mnt | /proc | /sys | /dev) ;; *) cp -a "$path" /mnt/ ;; esac
	done
	mkdir -p /mnt/mnt /mnt/proc /mnt/sys /mnt/dev
	exec switch_root /mnt /init moved
fi
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
while read -r module; do insmod "$module"; done </vm/modules
ip link set lo up
export PATH=/usr/bin:/usr/sbin HOME=/root
uname -a

# run runs tests, and counts a run that did not end in order as a failure.
run() { # TITLE COMMAND...
	title=$1
	shift
	echo "vm: $title"
	"$@" </dev/null || echo "--- FAIL: $title ended with code $?"
}
. /vm/run.sh
echo "vm: the end"
sleep 1
echo b >/proc/sysrq-trigger
sleep 60
