#!/bin/sh
# Runs the scenario scripts (all, or those named), JOBS at a time (default 2: they mostly wait), and counts their lines: the last line is
# "N passed, N failed". FULL=1 asks for every point (make test-full); else some are sampled.
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --one ]; then # DIR NAME: what xargs starts
    dir=$2 name=$3
    script=$here/$name.sh
    # The full run crawls the awkward sites on top of the calm ones.
    if [ "$name" = crawl_sample ] && [ "${FULL:-}" ]; then
        { FULL='' sh "$script" && sh "$script"; } >"$dir/$name.out" 2>"$dir/$name.err"
    else
        sh "$script" >"$dir/$name.out" 2>"$dir/$name.err"
    fi
    code=$?
    # A script that ends early without saying so must not pass.
    if [ $code -ne 0 ] && ! grep -q '^not ok' "$dir/$name.out"; then
        echo "not ok $name exit code $code: $(tail -n 1 "$dir/$name.err")" >>"$dir/$name.out"
    fi
    cat "$dir/$name.out"
    exit 0
fi
out=$(mktemp -d "${TMPDIR:-/tmp}/orb-scenarios.XXXXXX")
trap 'rm -rf "$out"' EXIT
if [ $# -eq 0 ]; then
    # The long ones first.
    set -- agents_kill agents_faults strangers hostile agents package package_orb agents_programs agents_wide recrawl adopt kill compare_sites power_cut sample_web crawl_sample demo signals disk lab lab_servers lab_play nearest drift rules warc import agents_warc care agents_care ping getting_started
fi
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -n 1 sh "$here/run.sh" --one "$out"
passed=$(cat "$out"/*.out | grep -c '^ok ')
failed=$(cat "$out"/*.out | grep -c '^not ok ')
for name; do [ -s "$out/$name.out" ] || { echo "not ok $name did not run" && failed=$((failed + 1)); }; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
