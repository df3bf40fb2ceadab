set -eu
rotate=$(pwd)/bin/rotate
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for i in 1 2 3 4 5; do
	echo "$i" >"my log"
	sh "$rotate" "my log" 2
	test -f "my log" && test ! -s "my log" || { echo "the log is not there and empty"; exit 1; }
done
test "$(cat "my log.1" "my log.2")" = "$(printf '5\n4')" || { echo "the old ones are wrong"; exit 1; }
test ! -e "my log.3" || { echo "the oldest was not removed"; exit 1; }
sh "$rotate" "my log" 2
test "$(cat "my log.1")" = 5 || { echo "an empty log was rotated"; exit 1; }
sh "$rotate" nowhere 2
test ! -e nowhere || { echo "a log that was not there is"; exit 1; }
echo x >"my log"
for n in 0 -1 two "" 1.5; do
	code=0
	sh "$rotate" "my log" "$n" 2>err || code=$?
	test "$code" = 2 && test -s err || { echo "N of '$n' ends with $code"; exit 1; }
	test "$(cat "my log")" = x || { echo "N of '$n' rotated"; exit 1; }
done
echo ok
