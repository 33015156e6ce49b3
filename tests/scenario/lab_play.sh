#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# Scenarios are played: everything that can happen to processes happens once, and nothing is lost; what goes wrong is said with its line.
# Skipped where namespaces are not allowed.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
orb_lab=${ORB_LAB_PROGRAM:-$(find_program orb-lab lab)} || exit 4

printf 'place hq 198.18.0.1\n' >"$tmp/try"
if ! "$orb_lab" up --quiet "$tmp/try" true 2>"$tmp/err"; then
    grep -q 'needs network namespaces' "$tmp/err" && echo "# skipped: no user namespaces for us, scenarios were not tried" && exit 0
    not_ok lab_comes_up "$(cat "$tmp/err")" && exit 1
fi

cat >"$tmp/everything.scenario" <<'END'
title  Everything that can happen to processes
world  make agents=4 sites=8 seed=3
serve  --pages 5
agents --delay 250
disk   agent2 80M
late   agent4
at 1s  kill agent1
cut    agent3
fill   agent2
wait   1s
heal   agent3
start  agent1
wait   heard agent1 within 30s as back_s
empty  agent2
start  agent4
clock  agent4 +1h
wait   heard agent4 within 30s
wait   crawled within 90s
kill   coordinator
kill   servers
start  servers
start  coordinator
wait   applied within 90s as applied_s
orb    agent pause agent1
shell  orb agent list --data fleet --json >paused.json; echo figure lines $(wc -l <ledger)
clear
wait   idle agent1 1s within 30s
stop   agent2
END
# Scenarios that fail, played meanwhile: LABEL, last line of the file.
failing() {
    printf 'title T\nworld make agents=2 sites=4 seed=3\nserve --pages 5\nagents --delay 250\n%s\n' "$2" >"$tmp/$1.scenario"
    (
        timeout 60 "$orb_lab" run --out "$tmp/out" "$tmp/$1.scenario" >"$tmp/$1.log" 2>&1
        echo $? >"$tmp/$1.code"
    ) &
    pids="$pids $!"
}
failing what_does_not_come_true 'wait crawled within 200ms'
# shellcheck disable=SC2016
failing an_agent_that_ends "shell kill -9 \$(cat /proc/[0-9]*/stat | awk '\$2 == \"(orb-agent)\" { print \$1; exit }'); sleep 1"

run=$tmp/out/everything/run
timeout 150 "$orb_lab" run --out "$tmp/out" --keep "$tmp/everything.scenario" >"$tmp/log" 2>&1
code=$?
check everything_is_played "exit code $code: $(tail -n 5 "$tmp/log")" [ $code -eq 0 ]
check every_page_is_there_once "$(wc -l <"$run/pages.jsonl")" [ "$(jq -r .url "$run/pages.jsonl" | sort -u | wc -l) $(wc -l <"$run/pages.jsonl")" = "40 40" ]
check the_ledger_outlives_its_servers "$(wc -l <"$run/ledger") lines" [ "$(awk -F'\t' '$5 == "GET" && $7 == 200 && $6 ~ /^\/(p\/.*)?$/ { print $4 $6 }' "$run/ledger" | sort -u | wc -l)" = 40 ]
check figures_come_from_steps "$(cat "$run/took.tsv")" [ "$(cut -f 1 "$run/took.tsv" | tr '\n' ' ')" = "back_s applied_s lines " ]
check commands_reach_the_coordinator "$(cat "$run/paused.json")" [ "$(jq '[.agents[] | select(.wanted == "pause")] | length' "$run/paused.json")" = 1 ]
check the_same_was_simulated "$(cat "$run/sim.err")" [ "$(jq -r '"\(.agents) \(.sites)"' "$run/sim.json")" = "4 8" ]
check events_are_kept "$(cat "$run/events.tsv")" grep -q 'clock agent4 +3600' "$run/events.tsv"

# LABEL, what must have been said.
fails() {
    check "$1" "$(cat "$tmp/$1.log")" [ "$(cat "$tmp/$1.code")" -ne 0 ]
    check "$1_is_said" "$(cat "$tmp/$1.log")" grep -q "$2" "$tmp/$1.log"
}
for p in $pids; do wait "$p"; done
pids=''
fails what_does_not_come_true 'line 5: wait crawled 100%: .* of 20 pages after 0.2 s; not fetched: http://site'
fails an_agent_that_ends 'line 5: .* ended by itself (killed by signal 9)'

# Three runs at a time, and a scenario after it; the slowest of them is the first.
# shellcheck disable=SC2016
printf 'title T\nrepeat 3\njobs 3\ncrawler none\nworld make agents=2 sites=4 seed=3\nwhen repeat=1 wait 2s\nshell echo figure number $repeat\nexpect number = $repeat\n' >"$tmp/three.scenario"
printf 'title T\ncrawler none\nworld make agents=2 sites=4 seed=3\nshell echo figure one 1\nexpect one = 2\n' >"$tmp/one.scenario"
timeout 60 "$orb_lab" run --out "$tmp/out" "$tmp/three.scenario" "$tmp/one.scenario" >"$tmp/log" 2>&1
code=$?
check the_worst_code_is_the_one_of_all "exit code $code: $(cat "$tmp/log")" [ $code -eq 1 ]
check runs_can_be_played_at_a_time "$(cat "$tmp/log")" [ "$(jq -r '"\(.passed) \(.jobs)"' "$tmp/out/three/results.json")" = "true 3" ]
check they_are_told_as_they_end "$(cat "$tmp/log")" [ "$(sed -n "s/^three repeat=\\(.\\): .*/\\1/p" "$tmp/log" | tail -n 1)" = 1 ]
check and_kept_as_they_were_planned "$(cat "$tmp/out/three/results.json")" [ "$(jq -c '[.runs[] | .figures.number]' "$tmp/out/three/results.json")" = "[1,2,3]" ]
check each_says_how_busy_the_machine_was "$(cat "$tmp/out/three/results.json")" [ "$(jq "all(.runs[]; .busy >= 0 and .load >= 0)" "$tmp/out/three/results.json")" = true ]
exit "$failed"
