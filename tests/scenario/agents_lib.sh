# agents_lib.sh - a coordinator and some agents over the sample web, for the scenarios with agents. Sourced after lib.sh.
#
# The coordinator's folder is $tmp/fleet, an agent's $tmp/NAME; what they say is in $tmp/fleet.log and $tmp/NAME.log.
orb_agent=${ORB_AGENT:-$(find_program orb-agent src/agent)} || exit 4
export ORB_AGENT_CONFIG=/dev/null

start_coordinator() { # OPTION...: the same address again after the first time
    : >"$tmp/fleet.out"
    "$orb" coordinator --data "$tmp/fleet" --listen "127.0.0.1:${fleet_port:-0}" --admin-listen 127.0.0.1:0 --plain --allow-private \
        --hosts "$tmp/hosts" "$@" >"$tmp/fleet.out" 2>>"$tmp/fleet.log" &
    fleet_pid=$!
    pids="$pids $fleet_pid"
    for _ in $(seq 400); do
        if grep -q 'add an agent' "$tmp/fleet.out"; then # the last line: all are there
            fleet_port=$(sed -n 's,.*search\, agents *http://127.0.0.1:\([0-9]*\)/.*,\1,p' "$tmp/fleet.out")
            return 0
        fi
        kill -0 "$fleet_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "$0: the coordinator did not start: $(tail -n 1 "$tmp/fleet.log")" >&2
    return 1
}
stop_process() { # PID [SIGNAL]
    kill "-${2:-TERM}" "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

# Starts the agent NAME, with a line to join the first time; sets agent_pid_NAME.
start_agent() { # NAME OPTION...
    name=$1
    shift
    line=""
    if [ ! -d "$tmp/$name" ]; then
        line=$("$orb" agent add "$name" --data "$tmp/fleet" --json | jq -r .line | sed 's/.*--join //')
        # Packages every second: a scenario should have many.
        set -- --join "$line" "$@"
    fi
    "$orb_agent" --data "$tmp/$name" --hosts "$tmp/hosts" --allow-private --delay 0 --shards 1 "$@" >>"$tmp/$name.log" 2>&1 &
    eval "agent_pid_$name=$!"
    pids="$pids $!"
}

overview() { # JQ-EXPRESSION
    curl -s --max-time 20 -H "Authorization: Bearer $(jq -r .token "$tmp/fleet/coord/admin.token" 2>/dev/null)" \
        "$(jq -r .url "$tmp/fleet/coord/admin.token" 2>/dev/null)/api/v1/overview" 2>/dev/null | jq -r "$1" 2>/dev/null
}
# Until every task is done and everything is taken in, for SECONDS at most.
wait_quiet() { # SECONDS
    quiet=0
    for _ in $(seq $(($1 * 5))); do
        if [ "$(overview .quiet)" = true ]; then quiet=$((quiet + 1)); else quiet=0; fi
        [ $quiet -ge 12 ] && return 0
        sleep 0.2
    done
    return 1
}
add_channels() { # one a seed
    while read -r url; do
        [ -n "$url" ] && "$orb" channel add "$url" --data "$tmp/fleet" --label "$url" >/dev/null
    done <"$tmp/seeds"
}
# Requests for the same page, by the ledger: method GET, answered 200, more than once. robots.txt is each agent's own business.
twice_fetched() {
    control /__ledger | awk -F'\t' '$2 == 200 && $4 != "/robots.txt" { n[$3 $4]++ } END { for (u in n) if (n[u] > 1) c += n[u] - 1; print c + 0 }'
}
