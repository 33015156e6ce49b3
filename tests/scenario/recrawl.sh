#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A coordinator left running keeps its copies fresh by itself. Sites whose pages change at known rates, in time that runs 600 times as fast
# for the plan: a second and a half are a quarter of an hour. By the sample web's ledger the copies are as fresh as the same plan keeps the
# same pages in a simulation; then agents and coordinator are killed, the strategy is another, and no site is asked more often than it may be.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
twin=${RECRAWL_TWIN:-$(find_program recrawl_twin tests/scenario)} || exit 4
scale=600 seconds=${SECONDS_RUN:-90}
hosts=40

serve_sample --no-sites --live $hosts --live-pages 3 --live-gap 6000 --spread --part live
start_coordinator --recrawl-time-scale $scale --check-every 1000000 || exit 4 # pages that are fetched to compare are not stored
start_agent athens
start_agent bergen
"$orb" channel import "$tmp/seeds" --data "$tmp/fleet" >/dev/null
sleep "$seconds"

judge() { # FROM TO: seconds of the crawl
    control /__ledger >"$tmp/ledger"
    control /__live >"$tmp/live"
    "$twin" "$tmp/ledger" "$tmp/live" $scale 128 "$1" "$2" >"$tmp/out"
    read -r live sim live_visits sim_visits gap <"$tmp/out"
    echo "# fresh by the ledger $live, by the simulation $sim; $live_visits and $sim_visits visits of pages; least gap $gap s"
}
is_near() { awk -v a="$live" -v b="$sim" 'BEGIN { exit !(b > 0 && a >= b * 0.95 && a <= b * 1.05) }'; }
recrawl() { "$orb" channel recrawl --data "$tmp/fleet" --json; }
visits() { recrawl | jq .done; }
judge 20 "$((seconds - 2))"
from=$((seconds - 2))
for _ in 1 2 3; do # a machine that was busy with something else gets another minute
    is_near && break
    sleep 60
    judge $from $((from + 60))
    from=$((from + 60))
done
check every_page_was_got "$(cat "$tmp/out")" [ -n "${sim:-}" ]
check copies_are_as_fresh_as_the_simulator_says "$live, the simulation says $sim" is_near
recrawl >"$tmp/figures"
check it_tells_how_fresh_they_are "$(cat "$tmp/figures")" \
    [ "$(jq -r '"\(.strategy) \(.channels) \(.new) \(.done > 0) \(.freshness > 0.2) \(.ranks | length) \(.stalest | length)"' "$tmp/figures")" = "greedy $hosts 0 true true 5 10" ]
# The fastest sites of five speeds are seen to change about sixteen times as often as the slowest.
"$orb" channel list --data "$tmp/fleet" --json >"$tmp/channels"
rate() { # SPEED: the mean rate of its hosts
    jq "[.channels[] | select((.label | capture(\"live(?<n>[0-9]+)\").n | tonumber) % 5 == $1) | .recrawl.changes_a_day] | add / length" "$tmp/channels"
}
check rates_are_learned "$(rate 0) $(rate 2) $(rate 4) changes a day" \
    awk -v a="$(rate 0)" -v b="$(rate 2)" -v c="$(rate 4)" 'BEGIN { exit !(a > 1.5 * b && b > 1.2 * c) }'

# What the index has is what was got: with the strategy off nothing is asked for, and what is on its way comes in.
"$orb" channel recrawl off --data "$tmp/fleet" >/dev/null
wait_quiet 60
are_those() {
    control /__ledger | awk -F'\t' '$4 ~ /^\/([0-9]+\.html)?$/ { print $1 "\t" $3 "\t" $4 }' >"$tmp/got"
    control /__live >"$tmp/live"
    # The edition at the last request, by the changes before it.
    awk -F'\t' 'NR == FNR { last[$2 "\t" $3] = $1; next }
        { n = split($3, t, " "); e = 0; for (i = 1; i <= n; i++) if (t[i] + 0 <= last[$1 "\t" $2] + 0) e++; print $1 $2 "\t" e }' \
        "$tmp/got" "$tmp/live" | LC_ALL=C sort >"$tmp/want"
    "$orb" export --data "$tmp/fleet" | jq -r '"\(.url)\t\(.title)"' |
        sed -E 's,^http://([^:/]*):[0-9]*(/[^\t]*)\tEdition ([0-9]+) .*,\1\2\t\3,' | LC_ALL=C sort >"$tmp/stored"
    cmp -s "$tmp/want" "$tmp/stored"
}
await 60 are_those # the last package may be under way
check stored_copies_are_those "$(diff "$tmp/want" "$tmp/stored" | head -n 4 | tr '\n' ' ')" are_those
before=$(visits)
sleep 6
check off_is_off "$before and $(visits) visits" [ "$(visits)" = "$before" ]

# From here on everything may die. One channel may be visited every 20 s and no more often; another never again.
label() { jq -r ".channels[] | select(.label == \"live$1.example\") | .id" "$tmp/channels"; }
"$orb" channel edit "$(label 0)" --at-most-every 20s --data "$tmp/fleet" >/dev/null 2>"$tmp/err" ||
    not_ok a_rule_is_taken "$(cat "$tmp/err")"
"$orb" channel edit "$(label 5)" --never --data "$tmp/fleet" >/dev/null
"$orb" channel edit "$(label 10)" --weight 50 --data "$tmp/fleet" >/dev/null
control /__clear >/dev/null
"$orb" channel recrawl greedy --data "$tmp/fleet" >/dev/null
# Its agent is away when it is due again: it comes late, and the next one counts from there.
asked_for() { control /__ledger | grep -q 'live0.example	/	'; }
await 60 asked_for
sleep 18
stop_process "$agent_pid_athens" KILL
stop_process "$agent_pid_bergen" KILL
sleep 6
start_agent athens
start_agent bergen
# The first, the one that came late, and the one after it.
asked_thrice() { [ "$(control /__ledger | grep -c 'live0.example	/	')" -ge 3 ]; }
await 60 asked_thrice
stop_process "$fleet_pid" KILL
sleep 1
start_coordinator --recrawl-time-scale $scale --check-every 1000000 || exit 4
sleep 8
"$orb" channel recrawl fixed --data "$tmp/fleet" >/dev/null
sleep 8
before=$(visits)
sleep 8
check visits_go_on_after_kills "$before and $(visits) visits" [ "$(visits)" -gt "$before" ]
check the_strategy_is_another "$(recrawl | jq -r .strategy)" [ "$(recrawl | jq -r .strategy)" = fixed ]
stop_process "$fleet_pid" KILL
start_coordinator --recrawl-time-scale $scale --check-every 1000000 || exit 4
check the_strategy_stays "$(recrawl | jq -r .strategy)" [ "$(recrawl | jq -r .strategy)" = fixed ]
"$orb" channel show "$(label 10)" --data "$tmp/fleet" >"$tmp/out"
check a_channel_is_shown "$(cat "$tmp/out")" grep -q 'brought something new' "$tmp/out"
check its_weight_is_kept "$(cat "$tmp/out")" grep -q 'weight *50' "$tmp/out"
control /__ledger >"$tmp/ledger"
# Seconds between two requests for the same page of a host, the least; 0 when there were fewer than three.
least_gap() { # HOST
    awk -F'\t' -v h="$1" '$3 == h && $4 == "/" { g = $1 - last; if (n++ && (n == 2 || g < least)) least = g; last = $1 } END { printf "%.1f", (n > 2 ? least / 1e6 : 0) }' "$tmp/ledger"
}
never=$(awk -F'\t' '$3 == "live5.example"' "$tmp/ledger" | wc -l)
check at_most_every_is_kept "$(least_gap live0.example) s between two visits" awk -v g="$(least_gap live0.example)" 'BEGIN { exit !(g >= 18) }' # the second may have been asked for faster than the first
check never_is_never "$never requests" [ "$never" -eq 0 ]
exit "$failed"
