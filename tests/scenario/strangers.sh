#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# Strangers at a coordinator's door while an agent crawls and people search: wrong tokens and keys, calls sent again or altered,
# bodies of a gigabyte, slow ones, 10,000 connections, packages that are none. Each is refused and written down, the coordinator's
# memory stays bounded, and neither the crawl nor the searches notice. FULL=1: the crowd stays longer, and comes over TLS too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
stranger=${STRANGER:-$(find_program stranger tests/scenario)} || exit 4
crowd=${CROWD:-$(find_program crowd tests/scenario)} || exit 4
# What a coordinator may take beside its index: 64 MiB, and for each of the 8,192 connections that it lets in 24 KiB (16 for a head).
memory_max_kib=$(((64 + 192) * 1024))
crowd_s=8
[ "${FULL:-}" ] && crowd_s=40

serve_sample --no-sites --big 800 --big-hosts 40 --spread --latency 30 --part big
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")
control /__clear >/dev/null

# One search a tenth of a second until $tmp/searching goes: how each went, and how long it took.
search_on() {
    while [ -f "$tmp/searching" ]; do
        curl -s -o "$tmp/hits" --max-time 10 -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$fleet_port/api/v1/search?q=visitors+ask" >>"$tmp/searches"
        sleep 0.1
    done
}
memory_kib() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$fleet_pid/status"; }
line_for() { "$orb" agent add "$1" --data "$tmp/fleet" --json | jq -r .line | sed 's/.*--join //'; }
logged() { # NAME PATTERN: the coordinator has written it down
    check "$1" "no such line" grep -qE "$2" "$tmp/fleet.log"
}

# As many files as there may be: the crowd is let in as far as the coordinator goes, not as far as the shell goes.
# shellcheck disable=SC3045 # dash has it
# shellcheck disable=SC3045 # dash has both
ulimit -n "$(ulimit -Hn)"
start_coordinator || exit 4
admin_port=$(jq -r .url "$tmp/fleet/coord/admin.token" | sed 's/.*:\([0-9]*\).*/\1/')
start_agent athens --delay 200
"$orb" channel import "$tmp/seeds" --data "$tmp/fleet" --every 0 >/dev/null
# The strangers that get a name must not get work.
for _ in $(seq 100); do
    [ "$("$orb" network list --agent athens --data "$tmp/fleet" --json | jq '.networks | length')" -eq 40 ] && break
    sleep 0.1
done
eve=$(line_for eve)
sam=$(line_for sam)
: >"$tmp/searching"
search_on &
pids="$pids $!"

"$stranger" slow "$fleet_port" "$sam" >"$tmp/slow" 2>&1 &
slow_pid=$!
pids="$pids $slow_pid"
"$stranger" calls "$fleet_port" "$admin_port" "$eve" >"$tmp/calls" 2>&1
calls_code=$?
cat "$tmp/calls"
check every_call_was_tried "$calls_code: $(tail -n 1 "$tmp/calls")" [ "$(grep -c '^\(not \)\?ok ' "$tmp/calls")" -ge 60 ]
echo "# memory after the calls: $(memory_kib) KiB"

before=$(wc -l <"$tmp/searches")
"$crowd" "$fleet_port" 10000 $crowd_s >"$tmp/crowd"
echo "# crowd: $(cat "$tmp/crowd")"
most=$(sed 's/.*most at once \([0-9]*\).*/\1/' "$tmp/crowd")
# shellcheck disable=SC3045 # dash has it
files=$(ulimit -Hn)
if [ "$files" = unlimited ] || [ "$files" -ge 12000 ]; then
    check ten_thousand_came "$(cat "$tmp/crowd")" [ "${most:-0}" -ge 5000 ]
else
    echo "# a process may have $files files here: the crowd was $most"
fi
tail -n +"$((before + 1))" "$tmp/searches" >"$tmp/searches.crowded"
during=$(wc -l <"$tmp/searches.crowded")
bad=$(grep -cv '^200 ' "$tmp/searches.crowded")
slowest=$(awk '$2 > max { max = $2 } END { print max + 0 }' "$tmp/searches.crowded")
echo "# searches in the crowd: $during, slowest $slowest s"
check searches_go_on_in_a_crowd "$bad of $during failed: $(grep -v '^200 ' "$tmp/searches.crowded" | sort | uniq -c | head -n 2 | tr '\n' ' ')" [ "$bad" -eq 0 ]
check searches_are_answered_in_a_crowd "only $during, the slowest took $slowest s" [ "$during" -ge $((crowd_s * 2)) ]

wait "$slow_pid"
cat "$tmp/slow"
check every_slow_one_was_tried "$(tail -n 1 "$tmp/slow")" [ "$(grep -c '^\(not \)\?ok ' "$tmp/slow")" -eq 4 ]
wait_quiet 90
rm -f "$tmp/searching"
check crawl_goes_on_among_strangers "not quiet after 90 s: $(overview .)" [ "$quiet" -ge 12 ]
pages_of "$tmp/fleet" >"$tmp/got"
check strangers_change_no_page "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
refetched=$(twice_fetched)
check strangers_cost_no_request "$refetched pages were fetched again" [ "$refetched" -le $((want / 40)) ]
memory=$(memory_kib)
echo "# memory of the coordinator: $memory KiB at most"
check memory_stays_bounded "$memory KiB, $memory_max_kib promised" [ "${memory:-999999999}" -le $memory_max_kib ]

logged wrong_token_is_logged 'refused peer=127\.0\.0\.[0-9]+ code=403 why="no such token'
logged wrong_key_is_logged 'code=403 why="the signature is not the agent'
logged unsigned_is_logged 'code=403 why="not signed"'
logged replay_is_logged 'a request came twice'
logged altered_body_is_logged 'code=400 why="the body is not the one that was signed"'
logged giants_are_logged 'code=413 why="more than this call takes"'
logged damaged_package_is_logged 'refused agent=[0-9]+ sequence=1 why="damaged"'
logged foreign_package_is_logged 'refused agent=[0-9]+ sequence=1 why="the signature is not'
logged nonsense_is_logged 'packages: cannot be read agent=[0-9]+ sequence=1'
logged crowd_is_logged 'connections were not let in or hung up on refused='
lines=$(wc -l <"$tmp/fleet.log")
check log_stays_short "$lines lines" [ "$lines" -le 700 ]
stop_process "$fleet_pid"
check_index strangers_change_no_index "$tmp/fleet" "$want"

# The same over TLS, where a connection costs more: everybody begins a handshake that never ends.
if [ "${FULL:-}" ]; then
    "$orb" coordinator --data "$tmp/tls" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 >"$tmp/tls.out" 2>"$tmp/tls.log" &
    fleet_pid=$!
    pids="$pids $fleet_pid"
    for _ in $(seq 200); do
        grep -q 'add an agent' "$tmp/tls.out" && break
        sleep 0.1
    done
    tls_port=$(sed -n 's,.*search\, agents *https://127.0.0.1:\([0-9]*\)/.*,\1,p' "$tmp/tls.out")
    "$crowd" "$tls_port" 10000 15 tls >"$tmp/crowd" &
    crowd_pid=$!
    pids="$pids $crowd_pid"
    : >"$tmp/searches"
    for _ in $(seq 40); do
        curl -sk -o "$tmp/hits" --max-time 10 -w '%{http_code}\n' "https://127.0.0.1:$tls_port/" >>"$tmp/searches"
        sleep 0.2
    done
    wait "$crowd_pid"
    memory=$(memory_kib)
    echo "# crowd over TLS: $(cat "$tmp/crowd"); memory of the coordinator: $memory KiB at most"
    bad=$(grep -cv '^200$' "$tmp/searches")
    check searches_go_on_in_a_crowd_over_tls "$bad of 40 failed" [ "$bad" -eq 0 ]
    check memory_stays_bounded_over_tls "$memory KiB, $memory_max_kib promised" [ "${memory:-999999999}" -le $memory_max_kib ]
    stop_process "$fleet_pid"
fi
exit $failed
