#!/bin/sh
# Finds what the build and the tests need beside Go. As root it installs what is
# missing, else it prints the command that does. Says nothing when all is there.
# With firefox, webkit or headless-shell as arguments these browsers are wanted too, with
# qemu what virtual machines need, with podman a container engine, with poppler what reads PDF
# in a sandbox.
set -eu
cd "$(dirname "$0")/.."
wanted=$*

missing=""
need() { # COMMAND PACKAGES
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

# Sandboxes show /usr and not what a person put into their home.
usr=${CHOIR_USR:-/usr}
need_in_usr() { # COMMAND PACKAGES
	[ -x "$usr/bin/$1" ] || missing="$missing $2"
}

browser() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		if command -v "$name" >/dev/null 2>&1; then return 0; fi
	done
	return 1
}

find_missing() {
	missing=""
	need bwrap bubblewrap
	need git git
	need node nodejs
	need npm npm
	need strace strace
	need sqlite3 sqlite3
	need xz xz-utils # old data folders of the tests are packed with it
	need ip iproute2
	need gcc "gcc libc6-dev" # for the race detector
	need_in_usr make make # these two check projects in the tests
	need_in_usr python3 python3
	browser || missing="$missing chromium"
	case " $wanted " in *" firefox "*) [ -x "$usr/bin/firefox" ] || need_in_usr firefox-esr firefox-esr ;; esac
	case " $wanted " in *" headless-shell "*) need_in_usr chromium-headless-shell chromium-headless-shell ;; esac
	# The driver of virtual machines is tested where QEMU is; its kernel is downloaded.
	case " $wanted " in *" qemu "*)
		need qemu-system-x86_64 qemu-system-x86
		need sqfstar squashfs-tools
		need cpio cpio
		;;
	esac
	case " $wanted " in *" podman "*)
		need podman podman
		need runc runc # crun fails where cgroups of both versions are mounted
		;;
	esac
	case " $wanted " in *" poppler "*) need_in_usr pdftoppm poppler-utils ;; esac
	case " $wanted " in *" webkit "*)
		need_in_usr WebKitWebDriver webkit2gtk-driver
		need_in_usr Xvfb xvfb
		;;
	esac
}

go_wanted=$(sed -n 's/^go //p' go.mod)
if ! command -v go >/dev/null 2>&1; then
	echo "prereqs: Go $go_wanted or newer is missing. Install it and put it on the PATH." >&2
	exit 1
fi
# Older Go fetches the wanted version by itself, or says why it cannot.
if ! go_has=$(go env GOVERSION 2>&1); then
	echo "prereqs: choir needs Go $go_wanted or newer: $go_has" >&2
	exit 1
fi

find_missing
if [ -n "$missing" ]; then
	install="apt-get update && apt-get install -y --no-install-recommends$missing"
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "prereqs: missing:$missing. On Debian or Ubuntu install them with:" >&2
		echo "  sudo sh -c '$install'" >&2
		exit 1
	fi
	echo "prereqs: installing$missing" >&2
	if ! log=$(DEBIAN_FRONTEND=noninteractive sh -c "$install" 2>&1); then
		echo "$log" | tail -n 20 >&2
		echo "prereqs: this failed: $install" >&2
		exit 1
	fi
	find_missing
	if [ -n "$missing" ]; then
		echo "prereqs: still missing after the installation:$missing" >&2
		exit 1
	fi
fi

node_has=$(node --version)
node_major=${node_has#v}
node_major=${node_major%%.*}
if [ "$node_major" -lt 20 ]; then
	echo "prereqs: Node 20 or newer is needed, this is $node_has. Install a newer one and put it on the PATH." >&2
	exit 1
fi
