#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A power cut: the folder as the disk might hold it, that is without the end of what was written in the last second. The crawl
# is stopped for an instant while its folder is copied, journals of the copy are cut, and a crawl from the copy must end with
# the same pages.
. "$(dirname "$0")/lib.sh"
cuts=3
[ "${FULL:-}" ] && cuts=12
pages=4000
serve_sample --no-sites --big $pages --big-hosts 4 --part big
crawl_args="--hosts $tmp/hosts --seeds $tmp/seeds --allow-private --delay 0"
"$orb" crawl --data "$tmp/calm" $crawl_args --json >/dev/null 2>"$tmp/err"
pages_of "$tmp/calm" >"$tmp/want"
check power_undisturbed "$(wc -l <"$tmp/want") of $pages pages: $(tail -n 1 "$tmp/err")" [ "$(wc -l <"$tmp/want")" -eq $pages ]

sizes() { (cd "$1" && find . -name '*journal*' -type f -printf '%p %s\n'); }

for cut in $(seq $cuts); do
    rm -rf "$tmp/data" "$tmp/copy"
    "$orb" crawl --data "$tmp/data" $crawl_args --per-host 4 --jobs 16 --rate 2M >/dev/null 2>&1 &
    pid=$!
    pids="$pids $pid"
    random_below 2500
    sleep "$(awk -v ms="$random" 'BEGIN { printf "%.3f", 0.3 + ms / 1000 }')"
    sizes "$tmp/data" >"$tmp/before"
    sleep 1 # what is older than this was synced
    kill -STOP $pid
    cp -a "$tmp/data" "$tmp/copy"
    kill -CONT $pid
    kill -9 $pid
    wait $pid 2>/dev/null
    sizes "$tmp/copy" >"$tmp/after"
    lost=0
    while read -r file size; do
        old=$(awk -v f="$file" '$1 == f { print $2 }' "$tmp/before")
        [ -n "$old" ] || old=0
        [ "$size" -gt "$old" ] || continue
        random_below $((size - old))
        truncate -s $((old + random)) "$tmp/copy/$file"
        lost=$((lost + size - old - random))
    done <"$tmp/after"
    "$orb" crawl --data "$tmp/copy" $crawl_args --json >/dev/null 2>"$tmp/err"
    code=$?
    pages_of "$tmp/copy" >"$tmp/got"
    check "power_cut_$cut ($lost bytes of journal lost)" "code $code, $(wc -l <"$tmp/got") of $pages pages: $(tail -n 1 "$tmp/err")" \
        cmp -s "$tmp/want" "$tmp/got"
    check_index "power_cut_${cut}_index" "$tmp/copy" $pages
done
exit $failed
