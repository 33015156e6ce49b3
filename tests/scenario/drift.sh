#!/bin/sh
# shellcheck disable=SC2046,SC2154 # words are meant to be split; variables of lib.sh and lab_fleet.sh
# The world changes while real agents crawl it in the lab's router. Servers that answer slowly over the same paths move nothing. Paths that get
# longer move the networks behind them to the agents that are nearest now, and no others. Skipped where namespaces are not allowed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lab_fleet.sh"
orb_agent=${ORB_AGENT:-$(find_program orb-agent src/agent)} || exit 4
orb_lab=${ORB_LAB_PROGRAM:-$(find_program orb-lab lab)} || exit 4
all=${SITES:-24}

check the_world_is_made "$(cat "$tmp/out" 2>/dev/null)" lab_fleet_world 5 "$all" 9
lab_fleet_may
case $? in
1) echo "# skipped: no user namespaces for us, changes of the world were not tried" && exit 0 ;;
2) not_ok lab_comes_up "$(cat "$tmp/err")" && exit 1 ;;
esac
# More pages than can be crawled in that time, so that every agent always has something to measure by.
awk -F'\t' -v OFS='\t' 'NR > 1 { $7 = 1000; $8 = 2000 } { print }' "$tmp/world/sites.tsv" >"$tmp/sites" && mv "$tmp/sites" "$tmp/world/sites.tsv"
# A third of the sites get 120 ms farther from the agent that is nearest to them, where another one is nearer then by 30 ms or more.
awk -F'\t' -v OFS='\t' -v list="$tmp/affected" '
    NR == 1 { print; next }
    {
        best = 2; second = 0
        for (i = 3; i <= NF; i++) if ($i < $best) best = i
        for (i = 2; i <= NF; i++) if (i != best && (!second || $i < $second)) second = i
        if (NR % 3 == 0 && $second + 30 < $best + 120) { $best += 120; print $1 >list }
        print
    }' "$tmp/world/rtt.tsv" >"$tmp/changed.tsv"
affected=$(wc -l <"$tmp/affected")

cat >"$tmp/hook" <<'END2'
cp networks.json settled.json
"$lab" tell --serve slow '*' 200
are_slow() { networks && jq -e '([.networks[] | select(.server_ms > 150)] | length) * 4 >= .total * 3' networks.json >/dev/null; }
until_true 40 are_slow
sleep 6 # long enough to have moved, if slowness could do that
networks
cp networks.json slowed.json
"$lab" tell --serve slow '*' 0
"$lab" tell matrix "$tmp/changed.tsv"
who() { jq -r '.networks[] | .agent as $a | .state as $s | .names[] | [., $a, $s] | @tsv' networks.json; }
# All those that should move have moved.
have_moved() {
    networks && who >now && jq -r '.networks[] | .agent as $a | .names[] | [., $a] | @tsv' settled.json >were &&
        awk -F'\t' 'FILENAME == "were" { was[$1] = $2; next } FILENAME == "now" { now[$1] = $2; state[$1] = $3; next } was[$1] == now[$1] || state[$1] != "owned" { exit 1 }' were now "$tmp/affected"
}
until_true 60 have_moved || echo "some did not move" >&2
sleep 2
networks
END2
# Agents report three times a lease: three long round trips in a row are what it takes.
fleet_serve="--close" fleet_is_endless=yes fleet_coordinator="--lease 6s"
if ! lab_fleet_run learned 25 "$tmp/hook" || ! [ -s "$tmp/learned/slowed.json" ]; then
    not_ok the_fleet_comes_up "$(tail -n 3 "$tmp/run.out")"
    exit 1
fi
ok the_fleet_comes_up
agents_of() { jq -r '.networks[] | .agent as $a | .names[] | [., $a] | @tsv' "$tmp/learned/$1.json" | LC_ALL=C sort; }
agents_of settled >"$tmp/before"
agents_of slowed >"$tmp/slowed"
agents_of networks >"$tmp/after"
late=$(sed -n 's/.*(median), \([0-9.]*\) ms (99 %.*/\1/p' "$tmp/run.out" | tail -n 1)
seen=$(jq '[.networks[] | select(.server_ms > 150)] | length' "$tmp/learned/slowed.json")
check slowness_is_seen "$seen of $(jq .total "$tmp/learned/slowed.json") networks" [ "$seen" -ge $((all * 3 / 4)) ]
check slow_servers_move_nothing "$(diff "$tmp/before" "$tmp/slowed")" cmp -s "$tmp/before" "$tmp/slowed"
# Sites that should have moved: where they are now, by the changed table. Others: those that moved.
set -- $(awk -F'\t' '
    FILENAME ~ /affected$/ { is[$1]; next }
    FILENAME ~ /before$/ { was[$1] = $2; next }
    FILENAME ~ /after$/ { now[$1] = $2; next }
    FNR == 1 { for (i = 2; i <= NF; i++) col[$i] = i; next }
    ($1 in is) { best = $2; for (i = 3; i <= NF; i++) if ($i < best) best = $i; moved += now[$1] != was[$1]; near += $(col[now[$1]]) <= best + 10; next }
    { others++; strays += now[$1] != was[$1] }
    END { print moved + 0, near + 0, others + 0, strays + 0 }' "$tmp/affected" "$tmp/before" "$tmp/after" "$tmp/changed.tsv")
echo "# $affected sites got farther: $1 moved, $2 are within 10 ms of the nearest now; of $3 others $4 moved; the router was late by $late ms (99 %)"
check longer_paths_move_networks "$1 of $affected" [ "$1" = "$affected" ]
check they_go_to_the_nearest_now "$2 of $affected within 10 ms" [ "$2" -ge $((affected * 9 / 10)) ]
check nothing_else_moves "$4 of $3" [ "$4" -eq 0 ]
exit "$failed"
