#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# One channel over many hosts, in networks of several agents: links between its hosts reach whoever crawls there, hosts that nobody named
# too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

serve_sample --spread --part calm
# Each name leads to two networks, which different agents may have: it is crawled by one of them.
awk '{ ip[NR] = $1; name[NR] = $2 } END { for (i = 1; i <= NR; i++) print ip[i], name[i] "\n" ip[i % NR + 1], name[i] }' "$tmp/hosts" >"$tmp/two"
cp "$tmp/two" "$tmp/hosts"
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")
control /__clear >/dev/null
start_coordinator || exit 4
for a in athens bergen cairo; do start_agent "$a"; done
# shellcheck disable=SC2046 # a word a seed
"$orb" channel add $(cat "$tmp/seeds") --data "$tmp/fleet" --label all >/dev/null
wait_quiet 90
pages_of "$tmp/fleet" >"$tmp/got"
check one_channel_over_many_agents "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
check a_name_in_two_networks_has_one_agent "$(twice_fetched) of $want pages were fetched again" [ "$(twice_fetched)" -le $((want / 40)) ]
stop_process "$fleet_pid"
for a in athens bergen cairo; do eval "stop_process \$agent_pid_$a"; done

# Eight hosts whose pages are linked from each other at random.
kill "$sample_pid" 2>/dev/null
wait "$sample_pid" 2>/dev/null
rm -rf "$tmp/fleet" "$tmp/athens" "$tmp/bergen" "$tmp/cairo" "$tmp/alone"
serve_sample --spread --no-sites --big 400 --big-hosts 8 --part big
"$orb" crawl --seeds "$tmp/seeds" --data "$tmp/alone" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")
fleet_port=0
start_coordinator || exit 4
for a in athens bergen cairo; do start_agent "$a"; done
# shellcheck disable=SC2046
"$orb" channel add $(cat "$tmp/seeds") --data "$tmp/fleet" --label big >/dev/null
wait_quiet 90
pages_of "$tmp/fleet" >"$tmp/got"
check pages_that_only_other_hosts_link_to "$(wc -l <"$tmp/got") of $want" cmp -s "$tmp/want" "$tmp/got"
exit $failed
