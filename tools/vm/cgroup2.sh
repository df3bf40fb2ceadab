# Tries the limits of sandboxes in cgroups version 2 from the three places where a
# choir can be: beside other processes in the topmost group, as in a login of root;
# alone in a scope of root's; and alone in a scope that was delegated to a person, as
# systemd-run --user --scope -p Delegate=yes does.
groups=/sys/fs/cgroup
mount -t cgroup2 cgroup2 $groups

# tests runs as user number UID the tests whose sandboxes' groups are to lie below the
# topmost group, or below a new scope in the folder WHERE: a choir leaves no process in
# its scope itself, so the kernel takes none there later.
tests() { # TITLE UID WHERE
	for which in '^TestV2' '^TestLocal$/^(limits|survival)$'; do
		group=$3
		if [ "$group" != $groups ]; then
			group=$(mktemp -d "$3/choir-XXXXXX.scope")
			chown -R "$2:$2" "$group"
		fi
		run "$1, $which" sh -e -c 'echo $$ >"$1/cgroup.procs"; export CHOIR_TEST_CGROUP="$1"
			exec setpriv --reuid "$2" --regid "$2" --clear-groups env HOME=/tmp CHOIR_SANDBOXTEST_PROBE=/vm/probe \
				/vm/tests/local.test -test.v -test.parallel 1 -test.timeout 20m -test.run "$3"' sh "$group" "$2" "$which"
	done
}

# down hands the controllers down the folders of a path.
down() { # FOLDERS...
	at=$groups
	for name in "" "$@"; do
		at=$at/$name
		mkdir -p "$at"
		echo "+cpu +memory +pids" >"$at/cgroup.subtree_control"
	done
}

tests "root in the topmost group" 0 $groups
down system.slice
tests "root in a scope" 0 $groups/system.slice
down user.slice user-1000.slice user@1000.service app.slice
chown -R 1000:1000 "$groups/user.slice/user-1000.slice/user@1000.service"
tests "a person in a delegated scope" 1000 $groups/user.slice/user-1000.slice/user@1000.service/app.slice
