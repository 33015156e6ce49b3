#!/bin/sh
# Runs test scripts, JOBS at a time (default 4: they mostly wait), and counts their lines, "ok NAME" and "not ok NAME why".
#
#   tests/run.sh                      all
#   tests/run.sh cli scenario/kill    those of a folder, and one
#
# FULL=1 asks for every point (make test-full); else some are sampled. The last lines are "FOLDER: N passed, N failed" for each
# folder, and "N passed, N failed" of all.
here=$(cd "$(dirname "$0")" && pwd)

# The long ones first, so that none is left alone at the end.
all="scenario/agents_faults scenario/hostile scenario/rules scenario/recrawl scenario/agents_care browser/admin scenario/demo
scenario/package scenario/agents scenario/ping browser/freshness scenario/package_orb scenario/nearest scenario/kill
scenario/disk scenario/agents_programs scenario/compare_sites cli/usage scenario/warc scenario/power_cut scenario/drift
scenario/sample_web scenario/agents_kill scenario/adopt scenario/agents_warc scenario/care cli/completion scenario/strangers
browser/near scenario/agents_wide cli/care browser/status scenario/import browser/look scenario/signals scenario/lab_play
scenario/lab scenario/lab_servers scenario/getting_started cli/program cli/crawl browser/search cli/terminal cli/import
cli/recrawl cli/documents cli/sitemap cli/sim cli/search cli/hierarchy cli/serve cli/probe cli/folder cli/alike
scenario/crawl_sample cli/config cli/url cli/robots cli/page"

if [ "${1:-}" = --one ]; then # DIR FOLDER/NAME: what xargs starts
    out=$2/$(echo "$3" | tr / .)
    began=$(date +%s)
    sh "$here/$3.sh" >"$out" 2>"$out.err"
    code=$?
    # A script that ends early without saying so must not pass.
    if [ $code -ne 0 ] && ! grep -q '^not ok' "$out"; then
        echo "not ok $3 exit code $code: $(tail -n 1 "$out.err")" >>"$out"
    elif ! [ -s "$out" ]; then
        echo "not ok $3 said nothing" >>"$out"
    fi
    times >"$out.times" # not in a pipe: a shell of its own would have other children
    cat "$out"
    awk -v what="$3" -v took=$(($(date +%s) - began)) 'NR == 2 { split($0, t, /[ms ]+/)
        printf "# %s: %d s, %d s of processor\n", what, took, t[1] * 60 + t[2] + t[3] * 60 + t[4] }' "$out.times"
    exit 0
fi

names() { # what to run of what was asked for, in our order
    for want in "$@"; do
        found=""
        for name in $all; do case $name in "$want" | "$want"/*) found="$found $name" ;; esac done
        [ "$found" ] || { echo "run.sh: $want: no such script or folder" >&2 && return 2; }
        echo "$found"
    done
}

[ $# -gt 0 ] && { all=$(names "$@") || exit 2; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/orb-tests.XXXXXX")
trap 'rm -rf "$dir"' EXIT
echo "$all" | xargs -P "${JOBS:-4}" -n 1 sh "$here/run.sh" --one "$dir"
for name in $all; do
    [ -f "$dir/$(echo "$name" | tr / .).times" ] || echo "not ok $name did not run" | tee -a "$dir/$(echo "$name" | tr / .)"
done
passed=0 failed=0
for folder in $(echo "$all" | tr ' ' '\n' | sed -n 's|/.*||p' | LC_ALL=C sort -u); do
    good=$(find "$dir" -name "$folder.*" ! -name "*.*.*" -exec grep -h '^ok ' {} + | wc -l)
    bad=$(find "$dir" -name "$folder.*" ! -name "*.*.*" -exec grep -h '^not ok ' {} + | wc -l)
    echo "$folder: $good passed, $bad failed"
    passed=$((passed + good)) failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
