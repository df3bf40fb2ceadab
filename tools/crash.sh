#!/bin/sh
# Builds what the crash matrix needs and runs it: choir with named fault points,
# three sabotaged ones, and the file system whose power can be cut. Arguments go
# to `crashmatrix run`; see tools/crashmatrix.
set -eu
cd "$(dirname "$0")/.."
out=.cache/crash
mkdir -p "$out"

# choir NAME TAGS builds a choir whose guests have the same tags.
choir() {
	guests=$PWD/$out/guests-$1
	replace=
	for name in choir-init choir-director choir-associate; do
		CGO_ENABLED=0 go build -trimpath -tags "$2" -ldflags "-s -w" -o "$guests/$name" "./cmd/$name"
		test -e "internal/guestbin/bin/$name" || { echo "make guest first" >&2; exit 1; }
		replace="$replace${replace:+,}\"$PWD/internal/guestbin/bin/$name\":\"$guests/$name\""
	done
	echo "{\"Replace\":{$replace}}" >"$out/overlay-$1.json"
	CGO_ENABLED=0 go build -trimpath -tags "$2" -overlay "$out/overlay-$1.json" -ldflags "-s -w" -o "$out/choir-$1" ./cmd/choir
}

CGO_ENABLED=0 go build -trimpath -o "$out/powercut" ./tools/powercut
CGO_ENABLED=0 go build -trimpath -o "$out/crashmatrix" ./tools/crashmatrix
case " $* " in
*" -random "*) cp bin/choir "$out/choir-release" ;;
*)
	choir faults faultpoints
	choir nosync faultpoints,sabotage_sync
	choir nochain faultpoints,sabotage_chain
	choir nokeys faultpoints,sabotage_keys
	;;
esac
exec "$out/crashmatrix" run "$@"
