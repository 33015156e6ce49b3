#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# kill -9 of agents and coordinator at seeded points of a crawl over four agents: in the end the pages and the index are those of an
# undisturbed crawl, nothing is there twice, and what is fetched again is what was under way. 8 points, 30 with FULL=1.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
points=8
[ "${FULL:-}" ] && points=30
agents="athens bergen cairo dakar"

serve_sample --no-sites --big 1500 --big-hosts 60 --spread --latency 40 --part big
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")
control /__clear >/dev/null

start_coordinator || exit 4
for a in $agents; do start_agent "$a" --delay 60; done
# One channel for all of it: its hosts lie in sixty networks, so it has a task at each agent.
"$orb" channel import "$tmp/seeds" --data "$tmp/fleet" --every 0 >/dev/null
kills=0
while [ $kills -lt $points ]; do
    random_below 900
    sleep "$(awk -v ms="$random" 'BEGIN { printf "%.3f", 0.2 + ms / 1000 }')"
    random_below 5
    if [ "$random" -eq 4 ]; then
        stop_process "$fleet_pid" KILL
        start_coordinator || exit 4
    else
        victim=$(echo "$agents" | cut -d' ' -f$((random + 1)))
        eval "victim_pid=\$agent_pid_$victim"
        stop_process "$victim_pid" KILL
        start_agent "$victim" --delay 60
    fi
    kills=$((kills + 1))
done
wait_quiet 120
check killed_fleet_finishes "not quiet after two minutes: $(overview .)" [ "$quiet" -ge 12 ]
pages_of "$tmp/fleet" >"$tmp/got"
check killed_fleet_finds_the_same_pages "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
again=$(twice_fetched)
check killed_fleet_fetches_little_again "$again pages again after $kills kills" [ "$again" -le $((kills * 40 + want / 40)) ]
stop_process "$fleet_pid"
check_index killed_fleet_has_every_page_once "$tmp/fleet" "$want"
for a in $agents; do
    eval "stop_process \$agent_pid_$a"
    left=$(find "$tmp/$a/spool" -maxdepth 1 -type f 2>/dev/null | wc -l)
    check "no_package_of_${a}_is_left" "$left are in its spool" [ "$left" -eq 0 ]
done
exit $failed
