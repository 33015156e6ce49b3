#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A folder of `orb crawl` goes on as a coordinator's, with an agent on the same machine: what was finished is not fetched again, what was
# not is finished; and `orb crawl` can have the folder back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

echo "delay = 0" >"$tmp/agent.conf"
export ORB_AGENT_CONFIG="$tmp/agent.conf"
serve_sample --spread --part calm
crawl() { # OPTION...
    "$orb" crawl --data "$tmp/fleet" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet "$@" 2>"$tmp/err"
}
crawl --contact first@example.org
pages_of "$tmp/fleet" >"$tmp/want"
want=$(wc -l <"$tmp/want")
seeds=$(wc -l <"$tmp/seeds")
control /__clear >/dev/null
start_coordinator --with-agent || exit 4
wait_quiet 60
state=$("$orb" agent list --data "$tmp/fleet" --json | jq -r '.agents[0] | "\(.name) \(.state) \(.networks > 0)"')
started_with() { tr '\0' ' ' <"/proc/$(cat "$tmp/fleet/agent/lock")/cmdline"; }
check the_contact_of_the_crawl_is_the_agents_too "$(started_with)" sh -c 'echo "$1" | grep -q -e "--contact first@example.org"' - "$(started_with)"
check the_agent_here_is_at_work "it is: $state; $(tail -n 1 "$tmp/fleet/agent.log")" [ "$state" = "here there true" ]
pages_of "$tmp/fleet" >"$tmp/got"
check adopted_pages_are_the_same "$(wc -l <"$tmp/got") of $want" cmp -s "$tmp/want" "$tmp/got"
again=$(control /__ledger | awk -F'\t' '$2 == 200 && $4 != "/robots.txt"' | wc -l)
check a_finished_crawl_is_not_fetched_again "$again pages, $seeds seeds" [ "$again" -le "$seeds" ]
# What the coordinator saw change is older than what the crawl sees next.
visits_of() { "$orb" export --data "$tmp/fleet" --states | jq -s 'map(.state.visits) | add'; }
bump() {
    sed -n "s,^http://\([^:]*\):[0-9]*\(/.*/\)\$,\1\&path=\2,p" "$tmp/want" | head -n 200 | while read -r page; do
        control "/__bump?host=$page" >/dev/null
    done
}
before=$(visits_of)
bump
"$orb" channel recheck all --data "$tmp/fleet" >/dev/null
changes_are_there() { [ $(($(visits_of) - before)) -ge 200 ]; }
check the_coordinator_sees_changes "$(($(visits_of) - before)) of 200 before the wait" await 120 changes_are_there
check crawl_keeps_off_a_running_coordinator "$(tail -n 1 "$tmp/err")" sh -c '! "$@"' sh "$orb" crawl --data "$tmp/fleet" --seeds "$tmp/seeds" --quiet 2>/dev/null
stop_process "$fleet_pid"
check its_agent_ends_with_it "$(pgrep -f "orb-agent --data $tmp/fleet/agent" | wc -l) are left" [ -z "$(pgrep -f "orb-agent --data $tmp/fleet/agent")" ]
bump
before=$(visits_of)
check crawl_can_have_it_back "$(tail -n 1 "$tmp/err")" crawl
looked=$(($(visits_of) - before))
check its_visits_are_newer_than_the_coordinators "$looked of $want" [ "$looked" = "$want" ]
pages_of "$tmp/fleet" >"$tmp/got"
check crawl_finds_them_again "$(wc -l <"$tmp/got") of $want" cmp -s "$tmp/want" "$tmp/got"

# Half a crawl: the rest is found.
rm -rf "$tmp/fleet"
crawl --pages $((want / 3))
fleet_port=0
echo "# none" >"$tmp/ca.pem"
start_coordinator --with-agent --contact owner@example.org --purpose-url https://example.org/why --ca-file "$tmp/ca.pem" || exit 4
sleep 2
wait_quiet 90
check its_agent_says_whom_to_write_to "$(started_with)" \
    sh -c 'echo "$1" | grep -q -e "--contact owner@example.org --purpose-url https://example.org/why"' - "$(started_with)"
check it_trusts_whom_the_coordinator_trusts "$(started_with)" sh -c 'echo "$1" | grep -q -e "--ca-file $2"' - "$(started_with)" "$tmp/ca.pem"
about=$(curl -s --max-time 20 "http://127.0.0.1:$fleet_port/about-this-crawler")
check the_page_for_site_owners_says_it_too "$(echo "$about" | grep -m 1 -A 1 orbweaver/)" \
    sh -c 'echo "$1" | grep -q "mailto:owner@example.org" && echo "$1" | grep -q "(+https://example.org/why; owner@example.org)"' - "$about"
pages_of "$tmp/fleet" >"$tmp/got"
first=$(cat "$tmp/fleet/agent/lock")
kill -9 "$first"
has_another() { [ "$(cat "$tmp/fleet/agent/lock")" != "$first" ] && kill -0 "$(cat "$tmp/fleet/agent/lock")"; }
await 30 has_another
check an_agent_that_was_killed_is_started_again "$(tail -n 2 "$tmp/fleet.log")" has_another
"$orb" agent kill here --data "$tmp/fleet" >/dev/null
await 60 grep -q 'agent on this machine has ended' "$tmp/fleet.log"
check one_that_was_told_to_end_is_not "$(tail -n 2 "$tmp/fleet.log")" grep -q 'agent on this machine has ended' "$tmp/fleet.log"
check an_unfinished_crawl_is_finished "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
exit $failed
