#!/bin/sh
# Runs the browser tests (all, or those named) and counts their lines: the last line is "N passed, N failed".
here=$(cd "$(dirname "$0")" && pwd)
all=$(mktemp "${TMPDIR:-/tmp}/orb-browser-run.XXXXXX")
trap 'rm -f "$all" "$all.one" "$all.err"' EXIT
if [ $# -eq 0 ]; then
    set -- search look status admin near freshness
fi
for name in "$@"; do
    sh "$here/$name.sh" >"$all.one" 2>"$all.err"
    code=$?
    cat "$all.one"
    # A script that ends early must not pass.
    if [ $code -ne 0 ] && ! grep -q '^not ok' "$all.one"; then
        echo "not ok $name exit code $code: $(tail -n 1 "$all.err")" | tee -a "$all.one"
    fi
    cat "$all.one" >>"$all"
done
passed=$(grep -c '^ok ' "$all")
failed=$(grep -c '^not ok ' "$all")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
