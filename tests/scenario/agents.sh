#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A coordinator and three agents, real processes over loopback: what they find together is what one crawl finds; networks move with
# what is known of them; an agent can be paused, drained and removed; strangers get nowhere.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

serve_sample --spread --part calm
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")
searchable=$("$orb" check --data "$tmp/alone" --no-repair --json | jq .index_docs)
control /__clear >/dev/null

start_coordinator --lease 20s || exit 4
for a in athens bergen cairo; do start_agent "$a"; done
add_channels
wait_quiet 60
check agents_finish "not quiet after a minute: $(overview .)" [ "$quiet" -ge 12 ]
pages_of "$tmp/fleet" >"$tmp/got"
check agents_find_the_same_pages "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
# What sitemaps and feeds say of them comes along.
dates_of() { "$orb" export --data "$1" --states | jq -r 'select(.state.listed) | "\(.url) \(.state.listed)"' | LC_ALL=C sort; }
dates_of "$tmp/alone" >"$tmp/want_dates"
dates_of "$tmp/fleet" >"$tmp/got_dates"
check agents_bring_the_dates_of_lists "$(wc -l <"$tmp/got_dates") of $(wc -l <"$tmp/want_dates")" \
    sh -c '[ -s "$1" ] && cmp -s "$1" "$2"' - "$tmp/want_dates" "$tmp/got_dates"
# One page in a hundred of a new agent is fetched by another one too, to compare.
check agents_fetch_nothing_twice_but_samples "$(twice_fetched) of $want pages were fetched again" [ "$(twice_fetched)" -le $((want / 40)) ]
shares=$("$orb" agent list --data "$tmp/fleet" --json | jq '[.agents[] | select(.networks > 0)] | length')
check work_is_shared "only $shares agents have networks" [ "$shares" -ge 2 ]
owners=$("$orb" network list --data "$tmp/fleet" --json | jq '[.networks[] | select(.state == "owned")] | length')
hosts=$(awk '{ print $1 }' "$tmp/hosts" | sort -u | wc -l)
check every_network_has_one_agent "$owners networks are owned, of about $hosts" [ "$owners" -ge 10 ]

# What was measured is on the same machine: that is no time at all, and an answer.
"$orb" explain "$(head -n 1 "$tmp/want")" --data "$tmp/fleet" >"$tmp/why"
check a_short_round_trip_is_an_answer "$(grep -A 3 measured "$tmp/why" | tr '\n' ' ')" sh -c '! grep -q "no answer" "$1"' - "$tmp/why"

# One network goes to another agent: its pages are known there, and checked with conditional requests only.
control /__clear >/dev/null
"$orb" network list --data "$tmp/fleet" --json >"$tmp/networks"
network=$(jq -r '[.networks[] | select(.state == "owned")][0].network' "$tmp/networks")
from=$(jq -r '[.networks[] | select(.state == "owned")][0].agent' "$tmp/networks")
to=athens
[ "$from" = athens ] && to=bergen
"$orb" network move "$network" "$to" --data "$tmp/fleet" >/dev/null
for _ in $(seq 150); do
    now=$("$orb" network list --data "$tmp/fleet" --json | jq -r --arg n "$network" '.networks[] | select(.network == $n) | "\(.agent) \(.state)"')
    [ "$now" = "$to owned" ] && break
    sleep 0.2
done
check a_network_moves "$network of $from is with: $now" [ "$now" = "$to owned" ]
wait_quiet 40
fetched=$(control /__ledger | awk -F'\t' '$2 == 200 && $4 != "/robots.txt"' | wc -l)
check a_moved_network_is_not_fetched_again "$fetched pages" [ "$fetched" -le 3 ]

# A page changes; a recheck brings the change, and only that travels.
id=$("$orb" channel list --data "$tmp/fleet" --json | jq -r '[.channels[] | select(.label | contains("bakery"))][0].id')
before=$(overview .totals.visits)
control '/__bump?host=bakery.example&path=/' >/dev/null
"$orb" channel recheck "$id" --data "$tmp/fleet" >/dev/null
is_rechecked() { [ "$(overview .totals.visits)" -gt "$before" ]; }
await 40 is_rechecked
wait_quiet 40
after=$(overview .totals.visits)
check a_recheck_sends_what_changed "$((after - before)) visits came" [ "$((after - before))" -ge 1 ]
check a_recheck_sends_only_what_changed "$((after - before)) visits came" [ "$((after - before))" -le 3 ]

# Drained: its networks are with others. Removed: its key is worth nothing.
"$orb" agent drain cairo --data "$tmp/fleet" >/dev/null
for _ in $(seq 200); do
    left=$("$orb" network list --data "$tmp/fleet" --agent cairo --json | jq '.networks | length')
    [ "$left" -eq 0 ] && break
    sleep 0.2
done
check a_drained_agent_gives_its_networks_away "$left are left" [ "$left" -eq 0 ]
"$orb" agent remove cairo --data "$tmp/fleet" >/dev/null
await 30 grep -qiE '403|removed|not known|refused' "$tmp/cairo.log"
check a_removed_agent_is_refused "$(tail -n 2 "$tmp/cairo.log")" grep -qiE '403|removed|not known|refused' "$tmp/cairo.log"

# Its folder, copied to another machine: one of the two is heard, and the other one says why it is not.
cp -r "$tmp/bergen" "$tmp/bergen_too"
start_agent bergen_too
await 30 grep -q 'was its folder copied' "$tmp/bergen.log"
check a_copied_folder_is_found_out "$(tail -n 2 "$tmp/bergen.log")" grep -q 'was its folder copied' "$tmp/bergen.log"
check the_coordinator_says_so_too "$(tail -n 2 "$tmp/fleet.log")" grep -q 'two processes have the key of one agent.*bergen' "$tmp/fleet.log"

"$orb" agent pause athens --data "$tmp/fleet" >/dev/null
says_what_it_does() { "$orb_agent" status --data "$tmp/athens" --json | jq -e .doing >/dev/null; }
await 20 says_what_it_does
check agent_status_says_what_it_does "$("$orb_agent" status --data "$tmp/athens" 2>&1 | head -n 3)" says_what_it_does

stop_process "$fleet_pid"
check_index index_has_every_page_once "$tmp/fleet" "$searchable"
# PDFs were read by agents, files are known by name, and the coordinator knows as much of them as a crawl alone.
files() { "$orb" search --data "$1" --json --limit 100 type:pdf,png,csv,markdown | jq -c '[.results[] | [.url, .title, .type, .bytes, .lang]] | sort'; }
check documents_are_the_same_as_alone "$(files "$tmp/fleet") is not $(files "$tmp/alone")" [ "$(files "$tmp/fleet")" = "$(files "$tmp/alone")" ]
check pdfs_are_among_them "$(files "$tmp/fleet")" sh -c 'echo "$1" | jq -e "map(select(.[2] == \"pdf\" and .[4] != null)) | length >= 3" >/dev/null' - "$(files "$tmp/fleet")"
exit $failed
