#!/bin/sh
# Runs compiled tests in a QEMU machine under Debian's kernel, for what the kernel
# of this machine may not have: cgroup version 2 with its controllers (cgroup2),
# project quotas (quota), and a vsock that leads to itself (vsock). The machine has no disk and no network; its root folder is
# made of this machine's programs, in memory. Ends with the line
# "PART: N passed, N failed, N skipped", and fails unless all passed.
set -eu
cd "$(dirname "$0")/.."
part=$1
repo=$PWD
out=$repo/.cache/vm
root=$out/root-$part
# Under emulation a command takes 10 to 30 times as long.
patience=${VM_SECONDS:-1500}
mkdir -p "$out"

need=
for pair in qemu-system-x86_64:qemu-system-x86 cpio:cpio depmod:kmod mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs ip:iproute2 bwrap:bubblewrap git:git; do
	PATH=$PATH:/usr/sbin:/sbin command -v "${pair%:*}" >/dev/null || need="$need ${pair#*:}"
done
if [ -n "$need" ]; then
	echo "vm.sh: installing$need"
	apt-get install -y --no-install-recommends $need >"$out/apt.log" 2>&1 || { tail -5 "$out/apt.log" >&2; exit 1; }
fi
PATH=$PATH:/usr/sbin:/sbin

# The kernel is unpacked, not installed: this machine goes on with its own.
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" { print $2; exit }')
if [ ! -d "$out/$kernel" ]; then
	(cd "$out" && apt-get download "$kernel" >apt.log 2>&1) || { tail -5 "$out/apt.log" >&2; exit 1; }
	rm -rf "$out/unpacked"
	dpkg -x "$out/$kernel"_*.deb "$out/unpacked"
	rm -f "$out/$kernel"_*.deb
	mv "$out/unpacked" "$out/$kernel"
fi
version=${kernel#linux-image-}

rm -rf "$root"
mkdir -p "$root"
for dir in proc sys dev tmp run etc root mnt home/choir opt var/lib/choir usr/bin usr/sbin usr/lib usr/lib64 vm/go vm/tests; do mkdir -p "$root/$dir"; done
for link in bin sbin lib lib64; do ln -s "usr/$link" "$root/$link"; done
chmod 1777 "$root/tmp"

# Programs, and the libraries that they name.
programs=$out/programs
for name in bash dash coreutils findutils grep sed util-linux mount kmod e2fsprogs xfsprogs iproute2 bubblewrap git diffutils; do
	dpkg -L $name
done | grep -E '^(/usr)?(/bin|/sbin|/lib/git-core)/' | while read -r path; do
	if [ -f "$path" ]; then echo "$path"; fi
done >"$programs"
xargs -n 50 ldd <"$programs" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/lib64\// { print $1 }' | sort -u >"$programs.libraries"
cat "$programs" "$programs.libraries" | while read -r path; do
	echo "$path"
	to=$(readlink -f "$path")
	if [ "$to" != "$path" ]; then echo "$to"; fi
done | sort -u | tar -cf - -T - 2>/dev/null | tar -xf - -C "$root" --keep-directory-symlink
printf 'root:x:0:0::/root:/bin/sh\nperson:x:1000:1000::/home/choir:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\nperson:x:1000:\nnogroup:x:65534:\n' >"$root/etc/group"
cp /etc/ld.so.cache "$root/etc/"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"

# Modules, with what they depend on.
depmod -b "$out/$kernel" "$version"
modules=
for name in loop quota_v2 xfs vsock_loopback; do modules="$modules $(modprobe -d "$out/$kernel" -S "$version" --show-depends "$name" | awk '$1 == "insmod" { print $2 }')"; done
: >"$root/vm/modules"
for path in $modules; do
	base=$(basename "$path")
	[ -f "$root/vm/$base" ] || { cp "$path" "$root/vm/"; echo "/vm/$base" >>"$root/vm/modules"; }
done

# Tests, and what they would build with a compiler that is not there.
case $part in
cgroup2) packages="sandbox/local" ;;
quota) packages="diskquota computer control/supervisor" ;;
vsock) packages="guest/machine" ;;
*) echo "vm.sh: there is no part $part" >&2; exit 2 ;;
esac
for package in $packages; do
	CGO_ENABLED=0 go test -c -ldflags "-s -w" -o "$root/vm/tests/$(basename "$package").test" "./internal/$package"
	mkdir -p "$root$repo/internal/$package"
done
for program in cmd/choir-init cmd/choir-director cmd/choir-associate internal/sandbox/sandboxtest/probe; do
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$root/vm/go/$(basename $program)" "./$program"
	mkdir -p "$root$repo/$program"
	cp "$program/main.go" "$root$repo/$program/"
done
cp go.mod "$root$repo/"
mkdir "$root/vm/probe"
cp "$root/vm/go/choir-init" "$root/vm/go/probe" "$root/vm/probe/"
cp "$root/vm/go/probe" "$root/vm/probe/choir-associate"
chmod 111 "$root"/vm/probe/*
cp tools/vm/go.sh "$root/usr/bin/go"
cp tools/vm/init.sh "$root/init"
cp "tools/vm/$part.sh" "$root/vm/run.sh"
echo "REPO=$repo" >"$root/vm/environment"
chmod 755 "$root/usr/bin/go" "$root/init" "$root/vm/run.sh"

(cd "$root" && find . | cpio --quiet -o -H newc) | gzip -1 >"$out/$part.cpio"
rm -rf "$root"

# boot runs the machine to its end. A kernel that finds no clock to go by while this
# machine is busy comes to nothing, and is begun again.
boot() {
	timeout "$patience" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 3072 \
		-kernel "$out/$kernel/boot/vmlinuz-$version" -initrd "$out/$part.cpio" -append "console=ttyS0 panic=-1 cgroup_no_v1=all" \
		-no-reboot -nographic -nodefaults -no-user-config -serial stdio </dev/null >"$out/$part.log" 2>&1 &
	machine=$!
	trap 'kill $machine 2>/dev/null' EXIT
	waited=0
	while ! tests_began && [ $waited -lt 180 ] && kill -0 $machine 2>/dev/null; do
		sleep 1
		waited=$((waited + 1))
	done
	tests_began || kill $machine 2>/dev/null || true
	wait $machine || true
	trap - EXIT
	tests_began
}
tests_began() { grep -q '^vm: ' "$out/$part.log"; }
boot || boot || boot || echo "vm.sh: the machine did not come to its tests, three times" >&2

# What the machine wrote has carriage returns.
tr -d '\r' <"$out/$part.log" >"$out/$part.txt"
count() { grep -c -E "^ *--- $1: " "$out/$part.txt" || true; }
passed=$(count PASS) failed=$(count FAIL) skipped=$(count SKIP)
grep -E '^ *--- SKIP: ' -A 3 "$out/$part.txt" || true
ended=yes
if [ "$failed" != 0 ] || ! grep -q '^vm: the end$' "$out/$part.txt"; then
	ended=no
	tail -60 "$out/$part.txt"
	echo "vm.sh: all of it is in $out/$part.txt"
	grep -q '^vm: the end$' "$out/$part.txt" || echo "vm.sh: the machine did not come to its end; it has $patience s (VM_SECONDS)"
fi
echo "$part: $passed passed, $failed failed, $skipped skipped"
[ "$ended" = yes ] && [ "$passed" != 0 ] && [ "$skipped" = 0 ]
