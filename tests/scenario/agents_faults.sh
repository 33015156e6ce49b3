#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# What goes wrong between a coordinator and its agents: clocks an hour off, a coordinator that does not answer for a while, an agent
# that never comes back, full disks on either side. In the end the pages and the index are those of an undisturbed crawl.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

serve_sample --no-sites --big 900 --big-hosts 40 --spread --latency 30 --part big
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
pages_of "$tmp/alone" >"$tmp/want"
want=$(wc -l <"$tmp/want")

begin() { # COORDINATOR-OPTION...: a new fleet
    rm -rf "$tmp/fleet" "$tmp/athens" "$tmp/bergen" "$tmp/cairo"
    fleet_port=""
    control /__clear >/dev/null
    start_coordinator "$@" || exit 4
}
go() { "$orb" channel import "$tmp/seeds" --data "$tmp/fleet" --every 0 >/dev/null; }
end() { # NAME: everything is there
    wait_quiet 90
    check "$1_finishes" "not quiet after 90 s: $(overview .)" [ "$quiet" -ge 12 ]
    pages_of "$tmp/fleet" >"$tmp/got"
    check "$1_loses_nothing" "$(wc -l <"$tmp/got") of $want" cmp -s "$tmp/want" "$tmp/got"
    stop_process "$fleet_pid"
    check_index "$1_index" "$tmp/fleet" "$want"
    for a in athens bergen cairo; do
        eval "[ -n \"\${agent_pid_$a:-}\" ] && stop_process \$agent_pid_$a"
        eval "agent_pid_$a="
    done
}

# Clocks: one agent lives an hour ahead, one an hour behind.
begin
start_agent athens --clock-offset 3600000
start_agent bergen --clock-offset -3600000
go
end wrong_clocks

# The coordinator neither answers nor closes anything for longer than a lease.
begin --lease 3s
start_agent athens --delay 40
start_agent bergen --delay 40
go
sleep 2
kill -STOP "$fleet_pid"
may_not_work() { "$orb_agent" status --data "$tmp/athens" --json | jq -e '.may_work == false' >/dev/null; }
sleep 4
await 30 may_not_work
check agents_stop_when_their_lease_is_over "$(tail -n 1 "$tmp/athens.log")" may_not_work
kill -CONT "$fleet_pid"
end silent_coordinator

# An agent that never comes back: what it had and did not send is crawled by the others.
begin --lease 2s --move-after 3s
start_agent athens --delay 60
start_agent bergen --delay 60
go
sleep 2
stop_process "$agent_pid_bergen" KILL
agent_pid_bergen=""
for _ in $(seq 300); do
    left=$("$orb" network list --data "$tmp/fleet" --agent bergen --json | jq '.networks | length')
    [ "${left:-1}" -eq 0 ] && break
    sleep 0.2
done
check networks_of_a_lost_agent_move "$left networks are still its own" [ "${left:-1}" -eq 0 ]
end lost_agent

# The coordinator's disk is full, then is not: packages wait at the agents meanwhile.
begin
start_agent athens --delay 20
start_agent bergen --delay 20
stop_process "$fleet_pid"
ORB_TEST_WRITE_FAULT=100000:ENOSPC start_coordinator || exit 4
go
await 60 grep -qi space "$tmp/fleet.log"
check a_full_disk_is_said "$(tail -n 1 "$tmp/fleet.log")" grep -qiE 'space' "$tmp/fleet.log"
stop_process "$fleet_pid" KILL
start_coordinator || exit 4
go
end full_coordinator

# The same at an agent.
begin
start_agent athens --delay 20
start_agent bergen --delay 20
both_there() { [ "$("$orb" agent list --data "$tmp/fleet" --json | jq '[.agents[] | select(.state == "there")] | length')" = 2 ]; }
await 60 both_there
stop_process "$agent_pid_athens"
ORB_TEST_WRITE_FAULT=60000:ENOSPC start_agent athens --delay 20
go
await 60 grep -qiE 'space|disk' "$tmp/athens.log"
check a_full_disk_of_an_agent_is_said "$(tail -n 1 "$tmp/athens.log")" grep -qiE 'space|disk' "$tmp/athens.log"
stop_process "$agent_pid_athens" KILL
start_agent athens --delay 20
end full_agent
exit $failed
