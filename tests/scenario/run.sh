#!/bin/sh
# Runs the scenario scripts (all, or those named) and counts their lines: the last line is "N passed, N failed".
# FULL=1 asks for every point (make test-full); else some are sampled.
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp "${TMPDIR:-/tmp}/orb-scenarios.XXXXXX")
trap 'rm -f "$out"' EXIT
if [ $# -eq 0 ]; then
    set -- sample_web crawl_sample demo kill signals disk power_cut compare_sites agents agents_kill agents_faults
fi
# The full run crawls the awkward sites on top of the calm ones.
run_one() { # NAME
    script=$here/$1.sh
    if [ "$1" = crawl_sample ] && [ "${FULL:-}" ]; then
        FULL='' sh "$script" && sh "$script"
    else
        sh "$script"
    fi
}
for name in "$@"; do
    run_one "$name" >"$out.one" 2>"$out.err"
    code=$?
    cat "$out.one"
    # A script that ends early without saying so must not pass.
    if [ $code -ne 0 ] && ! grep -q '^not ok' "$out.one"; then
        echo "not ok $name exit code $code: $(tail -n 1 "$out.err")" | tee -a "$out.one"
    fi
    cat "$out.one" >>"$out"
    rm -f "$out.one" "$out.err"
done
passed=$(grep -c '^ok ' "$out")
failed=$(grep -c '^not ok ' "$out")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
