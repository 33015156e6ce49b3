#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# SIGINT and SIGTERM in the middle of a crawl: it stops at once, says how to go on, and going on makes no request again.
. "$(dirname "$0")/lib.sh"
pages=4000
serve_sample --no-sites --big $pages --big-hosts 4 --part big

for sig in INT TERM; do
    rm -rf "$tmp/data"
    control /__clear >/dev/null
    # Slow enough to be stopped halfway. A process started in the background by sh ignores SIGINT unless env restores it.
    env --default-signal=INT "$orb" crawl --data "$tmp/data" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 \
        --per-host 2 --jobs 8 --rate 1M >"$tmp/out" 2>&1 &
    pid=$!
    pids="$pids $pid"
    has_some() { [ "$(pages_of "$tmp/data" | wc -l)" -gt 20 ]; }
    await 60 has_some
    t0=$(date +%s%3N)
    kill -$sig $pid
    wait $pid
    code=$?
    took=$(($(date +%s%3N) - t0))
    got=$(pages_of "$tmp/data" | wc -l)
    check "signal_${sig}_stops_soon ($took ms, exit code $code)" "took $took ms, exit code $code" [ $took -lt 5000 -a $code -ne 137 ]
    check "signal_${sig}_says_how_to_resume" "no word of it: $(tail -n 1 "$tmp/out")" grep -q 'same command' "$tmp/out"
    check "signal_${sig}_in_the_middle ($got pages)" "$got of $pages pages" [ "$got" -gt 0 -a "$got" -lt $pages ]
    "$orb" crawl --data "$tmp/data" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --json >"$tmp/json" 2>"$tmp/err"
    got=$(pages_of "$tmp/data" | wc -l)
    check "signal_${sig}_resumed_to_the_end" "$got of $pages pages: $(tail -n 1 "$tmp/err")" [ "$got" -eq $pages ]
    repeats=$(control /__ledger | awk -F'\t' 'seen[$3 $4]++ { n++ } END { print n + 0 }')
    check "signal_${sig}_few_requests_again ($repeats)" "$repeats requests made again, 8 in flight" [ "$repeats" -le 8 ]
done
exit $failed
