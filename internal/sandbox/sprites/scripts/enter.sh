#!/bin/sh
# Makes the sandbox in namespaces of its own, of which it is the first process, and becomes
# choir-init there: a user without capabilities, in a root folder that is read-only. File
# descriptor 3 is the control door.
set -eu
umask 022
computer=$1
workspace=$2
shift 2
home=/var/lib/choir
root=$home/root
filter=$(cat $home/filter)
echo choir >/proc/sys/kernel/hostname
$home/guest/choir-init loopback 3>&-
# Programs that do not know the proxy reach the doors by ports below 1024. Best effort.
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start 2>/dev/null || true

mount --make-rprivate /
mkdir -p $root
mount -t tmpfs -o nosuid,nodev,mode=0755,size=64m none $root
cd $root

shown() { # a folder of the sprite, read-only
	mount --bind "$1" "$2"
	mount -o remount,bind,ro,nosuid,nodev "$2"
}
memory() { # target, mode, size, further options
	mount -t tmpfs -o "nosuid,nodev,mode=$2,size=$3${4:-}" none "$1"
}

mkdir usr proc sys dev tmp var run opt opt/choir home home/choir etc
shown /usr usr
for name in bin sbin lib lib32 lib64 libx32; do
	if test -L /$name; then
		ln -s "$(readlink /$name)" $name
	elif test -d /$name; then
		mkdir $name
		shown /$name $name
	fi
done
ln -s /tmp var/tmp
shown $home/guest opt/choir

# What toolchains need of the sprite's /etc, and the rest made up.
while read -r pattern; do
	(cd /etc && for path in $pattern; do test ! -e "$path" || cp -a --parents "$path" $root/etc/; done)
done <$home/system
find etc -type f ! -perm -004 -delete
find etc -type d -exec chmod 0755 {} +
rm -f $(cd $home/etc && for name in *; do echo etc/$name; done)
cp $home/etc/* etc/
chown -R 0:0 etc
ln -s /proc/self/mounts etc/mtab

memory dev 0755 64k
for name in null zero full random urandom tty; do
	: >dev/$name
	mount --bind /dev/$name dev/$name
done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
ln -s pts/ptmx dev/ptmx
mkdir dev/pts dev/shm
mount -t devpts -o nosuid,noexec,newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
memory dev/shm 1777 2g
mount -o remount,bind,ro,nosuid,noexec dev

mount -t proc -o nosuid,nodev,noexec proc proc
for name in cmdline interrupts diskstats partitions modules key-users kcore kallsyms iomem ioports; do
	test ! -e proc/$name || mount --bind etc/fstab proc/$name
done
memory sys 0555 4k
mount -o remount,bind,ro,nosuid,nodev,noexec sys
memory tmp 1777 2g
memory run 0755 64k
mount -o remount,bind,ro,nosuid,nodev run
memory home/choir 0700 1g ,uid=1000,gid=1000
folder=/home/choir
if test "$workspace" = workspace; then
	folder=/workspace
	mkdir -m 0700 $home/workspace workspace
	chown 1000:1000 $home/workspace
	mount --bind $home/workspace workspace
	mount -o remount,bind,nosuid,nodev workspace
fi
mount -o remount,bind,ro,nosuid,nodev $root

# The old root folder is covered and let go.
pivot_root . .
umount -l .
cd $folder
exec /usr/bin/env -i /usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs \
	--bounding-set=-all --inh-caps=-all --ambient-caps=-all -- \
	/opt/choir/choir-init --seccomp "$filter" "$@" "$computer"
