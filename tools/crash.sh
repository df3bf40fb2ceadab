#!/bin/sh
# Builds what the crash matrix needs and runs it: choir with named fault points,
# three sabotaged ones, and the file system whose power can be cut. Arguments go
# to `crashmatrix run`; see tools/crashmatrix.
set -eu
cd "$(dirname "$0")/.."
out=.cache/crash
mkdir -p "$out"

# choir NAME builds a choir with fault points, whose guests have them too. It leaves out
# the part NAME of the contract unless that is "faults": the linker says which, so that
# all are made of the same compiled packages.
choir() {
	guests=$PWD/$out/guests-$1
	flags="-s -w -X choiros/internal/fault.sabotaged=${1#no}"
	replace=
	for name in choir-init choir-director choir-associate; do
		CGO_ENABLED=0 go build -trimpath -tags faultpoints -ldflags "$flags" -o "$guests/$name" "./cmd/$name"
		test -e "internal/guestbin/bin/$name" || { echo "make guest first" >&2; exit 1; }
		replace="$replace${replace:+,}\"$PWD/internal/guestbin/bin/$name\":\"$guests/$name\""
	done
	echo "{\"Replace\":{$replace}}" >"$out/overlay-$1.json"
	CGO_ENABLED=0 go build -trimpath -tags faultpoints -overlay "$out/overlay-$1.json" -ldflags "$flags" -o "$out/choir-$1" ./cmd/choir
}

CGO_ENABLED=0 go build -trimpath -o "$out/powercut" ./tools/powercut
CGO_ENABLED=0 go build -trimpath -o "$out/crashmatrix" ./tools/crashmatrix
case " $* " in
*" -random "*) cp bin/choir "$out/choir-release" ;;
*)
	for name in faults nosync nochain nokeys; do choir "$name"; done
	;;
esac
exec "$out/crashmatrix" run "$@"
