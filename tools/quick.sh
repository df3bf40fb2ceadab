#!/bin/bash
# Checks what changed since BASE, in at most about 90 seconds: format, vet, import
# rules and sizes of Go, the tests of every changed package without the race
# detector, and format and unit tests of a changed user interface. BASE is the last
# commit, or the one before when nothing is uncommitted. `make test` is the judge.
set -euo pipefail
cd "$(dirname "$0")/.."
report=$1 out=$2
base=${BASE:-HEAD}
if [ -z "${BASE:-}" ] && [ -z "$(git status --porcelain)" ]; then base=HEAD~1; fi
changed=$( (git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard) | sort -u)
[ -n "$changed" ] || { echo "nothing changed since $base"; exit 0; }

# The Go package that a file belongs to: the nearest folder with Go files.
package_of() { # FILE
	local dir
	dir=$(dirname "$1")
	while [ "$dir" != . ]; do
		if compgen -G "$dir/*.go" >/dev/null; then echo "./$dir"; return; fi
		dir=$(dirname "$dir")
	done
}
packages=$(for file in $changed; do
	case $file in */testdata/planted/*) ;; internal/* | cmd/* | bench/* | tools/*) package_of "$file" ;; esac
done | sort -u)

go_files=$(grep '\.go$' <<<"$changed" || true)
if [ -n "$go_files" ]; then
	# shellcheck disable=SC2086
	"$report" check "$out" gofmt -- tools/gofmt.sh $go_files
	"$report" check "$out" vet -- go vet ./...
	"$report" check "$out" imports -- go run ./tools/imports
	"$report" check "$out" sizes -- go run ./tools/sizes
	"$report" check "$out" contracts -- go run ./tools/contracts -check
	"$report" check "$out" openapi -- go run ./tools/openapi -check
fi

# Whole computers take minutes: of these packages only the tests whose files
# changed run, and one run from the prompt to the checkpoint.
smoke='TheDemo'
for package in $packages; do
	case $package in
	./cmd/choir | ./bench)
		files=$(grep "^${package#./}/[^/]*_test\.go$" <<<"$changed" || true)
		# shellcheck disable=SC2086
		names=$([ -z "$files" ] || sed -n 's/^func Test\([A-Za-z0-9_]*\)(t .*/\1/p' $files | paste -sd'|')
		"$report" go "$out" "$(tr / - <<<"${package#./}")" -- go test -json -timeout 5m -run "^Test(${names:+$names|}$smoke)\$" "$package"
		;;
	*) small="${small:-} $package" ;;
	esac
done
# shellcheck disable=SC2086
[ -z "${small:-}" ] || "$report" go "$out" go -- go test -json -timeout 5m $small

if grep -q "^ui/base/" <<<"$changed"; then
	(cd ui/base && "$report" check "$out" biome-base -- ../desktop/node_modules/.bin/biome ci .)
fi
# Who tests base sees its files by a link, which git does not: then all tests run.
for ui in shell desktop; do
	grep -qE "^ui/($ui|base)/" <<<"$changed" || continue
	since=(--changed "$base" --passWithNoTests)
	if grep -q "^ui/base/" <<<"$changed"; then since=(); fi
	(
		cd "ui/$ui"
		"$report" check "$out" "biome-$ui" -- npx biome ci .
		VITEST_OUTPUT="$out/vitest-$ui.out" "$report" vitest "$out" "ui-$ui" -- npm test -- "${since[@]}" --reporter=json --outputFile="$out/vitest-$ui.out"
	)
done
