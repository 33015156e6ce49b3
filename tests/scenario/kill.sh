#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# kill -9 at seeded points, the same command again, until the crawl is through: the pages are those of an undisturbed run, only
# requests in flight are made again, and no host is asked sooner than its delay allows, also across a kill.
# 5 points a variant, 20 with FULL=1.
. "$(dirname "$0")/lib.sh"
points=5
[ "${FULL:-}" ] && points=20

now_ms() { date +%s%3N; }

crawl() { # FOLDER OPTION...: --json goes to $tmp/json
    folder=$1
    shift
    exec "$orb" crawl --data "$folder" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --json "$@" \
        >"$tmp/json" 2>>"$tmp/err"
}

# One folder from nothing to complete, killed at random points while any are left; adds to kills, and leaves
# killed_here: how often this folder's crawl was killed.
crawl_with_kills() { # FOLDER WINDOW_MS OPTION...
    data=$1 window=$2
    shift 2
    killed_here=0
    control /__clear >/dev/null
    for _ in $(seq 200); do
        (crawl "$data" "$@") &
        pid=$!
        pids="$pids $pid"
        if [ $kills -lt $points ]; then
            random_below "$window"
            sleep "$(awk -v ms="$random" 'BEGIN { printf "%.3f", ms / 1000 }')"
            if kill -9 "$pid" 2>/dev/null; then
                wait "$pid" 2>/dev/null
                code=$?
                control /__ledger >/dev/null # what was under way is in it before the next one asks
                if [ $code -eq 137 ]; then
                    kills=$((kills + 1)) killed_here=$((killed_here + 1))
                    continue
                fi
                return $code
            fi
        fi
        wait "$pid" 2>/dev/null
        return $?
    done
    return 99
}

# The least time between two requests to one host in the ledger, in ms.
nearest_gap() {
    awk -F'\t' '{ if ($3 in last && (min == "" || $1 - last[$3] < min)) min = $1 - last[$3]; last[$3] = $1 }
        END { printf "%d", min == "" ? 999999 : min / 1000 }' "$tmp/ledger"
}

variant() { # VARIANT JOBS MIN_GAP_MS OPTION...
    what=$1 jobs=$2 gap=$3
    shift 3
    : >"$tmp/err"
    t0=$(now_ms)
    control /__clear >/dev/null
    (crawl "$tmp/calm" --jobs "$jobs" "$@")
    code=$?
    took=$(($(now_ms) - t0))
    pages_of "$tmp/calm" >"$tmp/want"
    searchable=$(jq -r .index_docs "$tmp/json")
    want=$(wc -l <"$tmp/want")
    check "${what}_undisturbed" "code $code, $want of $pages pages: $(tail -n 1 "$tmp/err")" [ "$code" -eq 0 -a "$want" -eq "$pages" ]
    control /__ledger >"$tmp/ledger"
    calm_gap=$(nearest_gap)
    index_reason=""
    kills=0 round=0 worst=0 again=0 nearest=999999 set_ok=1 index_ok=1
    # A window of half a run: most folders are killed two or three times, at points that spread over the whole run.
    while [ $kills -lt $points ] && [ $round -lt 40 ]; do
        round=$((round + 1))
        crawl_with_kills "$tmp/killed" $((took / 2 + 20)) --jobs "$jobs" "$@"
        code=$?
        pages_of "$tmp/killed" >"$tmp/got"
        if [ $code -ne 0 ] || ! cmp -s "$tmp/want" "$tmp/got"; then
            set_ok=0
            reason="round $round, seed ${SEED:-20261}: code $code, $(wc -l <"$tmp/got") of $want pages: $(tail -n 1 "$tmp/err")"
        fi
        "$orb" check --data "$tmp/killed" --no-repair --json >"$tmp/check" 2>>"$tmp/err"
        if [ "$(jq -r '"\(.well) \(.index_docs)"' "$tmp/check")" != "true $searchable" ]; then
            index_ok=0
            index_reason="round $round, seed ${SEED:-20261}: $searchable pages wanted: $(cat "$tmp/check")"
        fi
        control /__ledger >"$tmp/ledger"
        # Killed after the last page and before the end: the next run looks for changes, and asks for everything once more.
        if [ "$(jq -r '.pass // 1' "$tmp/json")" = 1 ]; then
            repeats=$(awk -F'\t' 'seen[$3 $4]++ { n++ } END { print n + 0 }' "$tmp/ledger")
            over=$((repeats - killed_here * jobs))
            again=$((again + repeats))
            [ $over -gt $worst ] && worst=$over
        fi
        least=$(nearest_gap)
        [ "$least" -lt $nearest ] && nearest=$least
        [ "${KEEP:-}" ] && cp "$tmp/ledger" "$KEEP/$what.$round.ledger"
        rm -rf "$tmp/killed"
    done
    rm -rf "$tmp/calm"
    if [ $set_ok = 1 ]; then ok "${what}_same_pages ($kills kills, $round crawls of $took ms)"; else not_ok "${what}_same_pages" "$reason"; fi
    check "${what}_same_index ($searchable pages)" "$index_reason" [ $index_ok = 1 ]
    check "${what}_only_in_flight_again ($again requests made again after $kills kills)" \
        "$worst requests more than were in flight were made again ($again in all, $kills kills)" [ $worst -le 0 ]
    [ "$gap" -eq 0 ] && return
    check "${what}_polite_undisturbed (nearest $calm_gap ms)" "two requests to a host $calm_gap ms apart, delay $gap" [ "$calm_gap" -ge $((gap - 20)) ]
    check "${what}_polite (nearest $nearest ms)" "two requests to a host $nearest ms apart, delay $gap" [ "$nearest" -ge $((gap - 20)) ]
}

# Fast: a few hosts on one address, no delay. What is tested is the journal.
pages=3000
serve_sample --no-sites --big $pages --big-hosts 4 --part big
variant kill_fast 16 0 --delay 0
stop_sample

# Polite: forty hosts, each in a network of its own and slow enough that most kills find requests in flight. What is tested is
# that politeness survives: a host that was just asked is not asked again because we forgot.
pages=600
serve_sample --no-sites --big $pages --big-hosts 40 --spread --latency 60 --part big
variant kill_polite 64 300 --delay 300
stop_sample
exit $failed
