#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh and lab_fleet.sh
# Networks go to the nearest agent, with real processes and real distances: a coordinator, six agents and sixty sites of a made-up world in
# the lab's router. Each agent is as far from each site as the world says; nobody is told. Skipped where namespaces are not allowed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lab_fleet.sh"
orb_agent=${ORB_AGENT:-$(find_program orb-agent src/agent)} || exit 4
orb_lab=${ORB_LAB_PROGRAM:-$(find_program orb-lab lab)} || exit 4
all=${SITES:-60}

check the_world_is_made "$(cat "$tmp/out" 2>/dev/null)" lab_fleet_world 6 "$all" 11
lab_fleet_may
case $? in
1) echo "# skipped: no user namespaces for us, nearness was not tried" && exit 0 ;;
2) not_ok lab_comes_up "$(cat "$tmp/err")" && exit 1 ;;
esac

if ! lab_fleet_run learned 40; then
    not_ok the_fleet_comes_up "$(tail -n 3 "$tmp/run.out")"
    exit 1
fi
ok the_fleet_comes_up
lab_fleet_judge learned
lab_fleet_figures learned
tell() { # STRATEGY
    echo "# $1: $sites sites, $equal at the nearest agent, $near within 5 ms of it, $probes probes, mean round trip $ratio of the best"
    echo "# $1: $pages pages in $crawl_s s, $site_s s a site, $request_ms ms a request, $flight requests in flight, $carried MB x ms carried; the router was late by $late_ms ms (99 %)"
}
tell learned
check every_site_has_an_agent "$sites of $all: $(cat "$tmp/run.out")" [ "$sites" = "$all" ]
check sites_are_near "$near of $all within 5 ms" [ "$near" -ge $((all * 95 / 100)) ]
# All are met at once, so what one teaches comes late for the others; everybody probed would be five a site.
check probes_are_few "$probes probes of $all sites" [ "$probes" -le $((all * 7 / 2)) ]
check reasons_are_given "$(jq -r '.networks[0].why' "$tmp/learned/networks.json")" grep -q 'measured' "$tmp/learned/networks.json"
first=$(head -n 1 "$tmp/learned/nearest" | cut -f 2)
check anybody_can_ask "$(cat "$tmp/learned/asked.json" "$tmp/learned/asked.err")" \
    [ "$(jq -r '.nearest | "\(length) \(.[0].agent) \(.[0].decided) \(.[1].decided)"' "$tmp/learned/asked.json")" = "2 $first true false" ]
check explains_the_nearest_agent "$(cat "$tmp/learned/explain.err" "$tmp/learned/explain.json")" \
    [ "$(jq -r '.fleet | "\(.agent) \(.decided) \(.running) \(.probes | length > 0) \(.changes | length > 1)"' "$tmp/learned/explain.json")" = "$first true true true true" ]
check explains_it_to_people "$(cat "$tmp/learned/explain.out")" grep -q '^would change it  .' "$tmp/learned/explain.out"
check explains_what_happened_to_the_url "$(cat "$tmp/learned/explain.out")" grep -q '^state            fetched' "$tmp/learned/explain.out"
site=$(head -n 1 "$tmp/learned/seeds")
"$orb" explain --data "$tmp/learned/fleet" "$site" >"$tmp/out" 2>&1
check explains_without_a_coordinator "$(cat "$tmp/out")" grep -q "^agent            $first, since" "$tmp/out"
check says_that_it_is_stopped "$(cat "$tmp/out")" grep -q '^coordinator      stopped' "$tmp/out"
near_of_learned=$near carried_of_learned=$carried
lab_fleet_run random 30
lab_fleet_judge random
lab_fleet_figures random
tell random
check random_is_farther "$near of $all within 5 ms, $near_of_learned with learned" [ "$near" -lt $((all / 2)) ]
check nearer_carries_less "$carried_of_learned MB x ms, at random $carried" awk -v a="$carried_of_learned" -v b="$carried" 'BEGIN { exit !(a < b) }'
exit "$failed"
