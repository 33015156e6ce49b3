#!/bin/bash
# shellcheck disable=SC2016,SC2046,SC2086,SC2153,SC2154 # lists are meant to be split; names are set by whoever sources this, or by fleet_run
# What agents and their coordinator cost: 200 stand-ins on one coordinator (bench_fleet), then four real agents over the documentation sites:
# bytes at the socket, control bytes, a recheck, CPU a page against `orb crawl`. Sourced by bench/run; alone it prints its own figures: bench/fleet.sh
#
# Bytes are those of the TCP streams, TLS included, as bench_relay between agents and coordinator counts them; the agents' own counters are held against
# it. Each site is in a network of its own (a loopback /24), so that four agents have something to share. Web server on core 1, everything else on core 0.
if ! declare -F figure >/dev/null; then
    set -u
    fleet_is_alone=1
    here=$(cd "$(dirname "$0")" && pwd)
    top=$(cd "$here/.." && pwd)
    build=${BUILD:-build}
    case $build in /*) ;; *) build=$top/$build ;; esac
    sites=${BENCH_DATA:-$top/bench-data}/sites
    quick=${QUICK:-}
    [ "$quick" = 0 ] && quick=
    client="taskset -c 0" server="taskset -c 1"
    [ "$(nproc)" -ge 2 ] || client="" server=""
    export ORB_CONFIG=/dev/null LC_ALL=C
    orb=$build/src/cli/orb
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-bench.XXXXXX")
    shm=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$tmp")" orb-bench.XXXXXX)
    failed=0
    figure() { # NAME VALUE UNIT [>=|<= BAR]
        local verdict=""
        [ "${4:-}" ] && verdict=$(awk -v v="$2" -v b="$5" -v way="$4" 'BEGIN { print (way == ">=" ? v >= b : v > 0 && v <= b) ? "ok" : "below" }')
        [ "$verdict" = below ] && failed=1
        echo "$1 $2 $3${4:+ (bar $4 $5) $verdict}"
    }
    calc() { awk "BEGIN { printf \"%.${2:-2}f\", ($1) }" 2>/dev/null || echo 0; }
    trap 'fleet_end; rm -rf "$tmp" "$shm"' EXIT
    trap 'exit 130' INT TERM HUP PIPE
fi
orb_agent=$build/src/agent/orb-agent
[ -x "$orb_agent" ] || orb_agent=$build/orb-agent
export ORB_AGENT_CONFIG=/dev/null
fleet_sites=$(for s in "$sites"/*.starts; do basename "$s" .starts; done)
fleet_rounds=5 # each one's best, in turn, as elsewhere
if [ "$quick" ]; then
    fleet_sites="cppreference-doc-en-html libgtk-4-doc"
    fleet_rounds=1
fi
agents="a b c d"
fleet_pids="" relay_pid="" fleet_nginx=""

# Ends what was started here and still runs.
fleet_end() {
    for p in $fleet_pids $relay_pid $fleet_nginx; do kill "$p" 2>/dev/null; done
    fleet_pids="" relay_pid="" fleet_nginx=""
}

# ---- the sites, each at an address of its own ----
fleet_web() { # sets fleet_port, writes $tmp/fleet.hosts
    local n conf=$tmp/fleet.nginx
    mkdir -p "$conf"
    fleet_port=$((30000 + $$ % 10000))
    for _ in 1 2 3 4 5 6 7 8; do
        n=0
        : >"$tmp/fleet.hosts"
        {
            [ "$(id -u)" = 0 ] && echo "user root;"
            echo "worker_processes 1; pid $conf/pid; error_log $conf/log crit; events { worker_connections 8192; }"
            echo "http { types { text/html html htm; application/xhtml+xml xhtml; text/plain txt; text/css css; application/javascript js;"
            echo "image/png png; image/jpeg jpg jpeg; image/gif gif; image/svg+xml svg; application/pdf pdf; }"
            echo "default_type application/octet-stream; access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;"
            for t in client_body proxy fastcgi uwsgi scgi; do echo "${t}_temp_path $conf/$t;"; done
            for p in $fleet_sites; do
                n=$((n + 1))
                echo "127.2.$n.1 $p.example" >>"$tmp/fleet.hosts"
                echo "server { listen 127.2.$n.1:$fleet_port; server_name $p.example; root $sites/$p; }"
            done
            echo "}"
        } >"$conf/conf"
        if $server /usr/sbin/nginx -c "$conf/conf" 2>"$conf/err"; then
            for _ in $(seq 100); do [ -s "$conf/pid" ] && break; sleep 0.05; done # written after the command has returned
            fleet_nginx=$(cat "$conf/pid")
            return 0
        fi
        fleet_port=$((fleet_port + 37))
    done
    echo "bench: nginx did not start: $(tail -n 1 "$conf/err")" >&2
    return 1
}
fleet_starts() { sed "s,^,http://$1.example:$fleet_port/," "$sites/$1.starts"; } # SITE

# ---- processes ----
# Runs a command in the background, pinned; its number is in $shm/NAME.pid, its CPU time in $shm/NAME.time once it has ended.
fleet_run() { # NAME COMMAND...
    local name=$1
    shift
    rm -f "$shm/$name.pid" "$shm/$name.time"
    $client /usr/bin/time -q -o "$shm/$name.time" -f "%U %S" sh -c 'echo $$ >"$0.tmp"; mv "$0.tmp" "$0"; exec "$@"' "$shm/$name.pid" "$@" \
        >"$shm/$name.out" 2>"$shm/$name.log" &
    eval "job_$name=$!"
    for _ in $(seq 200); do [ -f "$shm/$name.pid" ] && break; sleep 0.02; done
    fleet_pids="$fleet_pids $(cat "$shm/$name.pid")"
}
fleet_stop() { # NAME
    local job=job_$1
    kill "$(cat "$shm/$1.pid")" 2>/dev/null
    wait "${!job}" 2>/dev/null
}
# Seconds, all together. A file without its two numbers means a process that was not measured: then nothing is.
fleet_cpu() { # FILE...
    cat "$@" | awk -v files=$# 'NF == 2 && $1 + $2 > 0 { s += $1 + $2; n++ } END { print n == files ? s : 0; exit n != files }' && return
    echo "bench: a CPU time is missing" >&2
}

# By hash: on one machine every agent is as near as any other, and "nearest" would give one of them everything; here all of them are to have work.
fleet_coordinator() { # HOSTS
    rm -rf "$shm/fleet"
    fleet_run coordinator "$orb" coordinator --strategy hash --data "$shm/fleet" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --allow-private --hosts "$1"
    for _ in $(seq 200); do
        grep -q 'add an agent' "$shm/coordinator.out" && return 0
        sleep 0.05
    done
    echo "bench: the coordinator did not start: $(tail -n 1 "$shm/coordinator.log")" >&2
    return 1
}
# Four agents; with `relay` through one that counts.
fleet_start() { # [relay]
    local port line
    fleet_coordinator "$tmp/fleet.hosts" || return 1
    port=$(sed -n 's,.*search\, agents *https://127.0.0.1:\([0-9]*\)/.*,\1,p' "$shm/coordinator.out")
    if [ "${1:-}" ]; then
        coproc RELAY { exec $server "$build/bench/bench_relay" 127.0.0.1 "$port"; }
        relay_pid=$RELAY_PID
        read -r _ port <&"${RELAY[0]}"
    fi
    for a in $agents; do
        rm -rf "${shm:?}/$a"
        line=$("$orb" agent add "$a" --data "$shm/fleet" --json | jq -r .line | sed "s/.*--join //; s/\(127.0.0.1\):[0-9]*/\1:$port/")
        fleet_run "$a" "$orb_agent" --data "$shm/$a" --hosts "$tmp/fleet.hosts" --allow-private --delay 0 --shards 1 --quiet --join "$line"
    done
}
# The agents, then the coordinator, which brings everything into the index.
fleet_finish() {
    for a in $agents; do kill "$(cat "$shm/$a.pid")" 2>/dev/null; done
    for a in $agents; do fleet_stop "$a"; done
    fleet_stop coordinator
    if [ "$relay_pid" ]; then
        kill "$relay_pid" 2>/dev/null
        wait "$relay_pid" 2>/dev/null
        relay_pid=""
    fi
    fleet_pids=""
}
fleet_overview() { # JQ-EXPRESSION
    curl -s --max-time 20 -H "Authorization: Bearer $(jq -r .token "$shm/fleet/coord/admin.token")" \
        "$(jq -r .url "$shm/fleet/coord/admin.token")/api/v1/${2:-overview}" | jq -r "$1"
}
# Until every task is done and all is here, four looks in a row.
fleet_quiet() { # SECONDS
    local quiet=0
    for _ in $(seq $(($1 * 2))); do
        if [ "$(fleet_overview .quiet)" = true ]; then quiet=$((quiet + 1)); else quiet=0; fi
        [ $quiet -ge 4 ] && return 0
        sleep 0.5
    done
    echo "bench: the fleet did not come to an end: $(fleet_overview '{tasks,tasks_done,totals}' | tr -d '\n ')" >&2
    return 1
}
fleet_channel() { "$orb" channel add $(fleet_starts "$1") --data "$shm/fleet" --label "$1" --kind "$2" --every 0 >/dev/null; } # SITE KIND
relay_count() { # sets relay_up, relay_down
    echo >&"${RELAY[1]}"
    read -r _ relay_up relay_down <&"${RELAY[0]}"
}
# Pages, and bytes of their decoded HTML.
fleet_html() { # DATA HOST
    "$orb" export --states --data "$1" | jq -r --arg h "http://$2.example:" 'select((.url | startswith($h)) and (.state.content_type // "" | startswith("text/html"))) | .state.body_bytes' |
        awk '{ s += $1 } END { print NR + 0, s + 0 }'
}

# ---- 200 agents ----
many() { awk -v n="$1" '$1 == n { v = $2 } END { print v == "" ? 0 : v }' "$tmp/many.out"; }
fleet_many() {
    local seconds=20
    [ "$quick" ] && seconds=10
    "$build/bench/bench_fleet" hosts >"$tmp/fleet.hosts"
    fleet_coordinator "$tmp/fleet.hosts" || return 1
    $server "$build/bench/bench_fleet" "$sites" "$shm/fleet" "$(cat "$shm/coordinator.pid")" 200 2000 $seconds >"$tmp/many.out" || failed=1
    fleet_stop coordinator
    fleet_pids=""
    figure fleet_agents 200 agents
    figure fleet_pages "$(many pages)" pages
    figure fleet_control_p50 "$(many control_p50)" ms
    figure fleet_control_p99 "$(many control_p99)" ms "<=" 50
    figure fleet_poll_p99 "$(many poll_p99)" ms
    figure fleet_piece_p99 "$(many piece_p99)" ms
    figure fleet_order_p50 "$(many order_p50)" ms
    figure fleet_order_p99 "$(many order_p99)" ms "<=" 50
    figure fleet_paced_rate "$(many paced_rate)" pages/s
    figure fleet_paced_behind_first_half "$(many paced_behind_first_half)" s
    figure fleet_paced_behind "$(many paced_behind_most)" s "<=" 2
    figure fleet_paced_searchable_after "$(many paced_searchable_after)" s
    figure fleet_paced_cpu "$(many paced_cpu)" "% of a core"
    # What other programs, and the host of a virtual machine, took of the two cores meanwhile: latencies are worth little when it is much.
    figure fleet_paced_others "$(many paced_others)" "% of the coordinator's core"
    figure fleet_paced_others_here "$(many paced_others_here)" "% of the agents' core"
    figure fleet_ingest "$(many flat_out_indexed)" pages/s ">=" 2000
    figure fleet_ingest_cpu "$(many flat_out_cpu_page)" us/page
    figure fleet_ingest_control_p99 "$(many flat_out_control_p99)" ms
    figure fleet_pages_dropped "$(many dropped)" pages
    figure fleet_coordinator_memory "$(many memory)" MiB
    figure fleet_coordinator_memory_with_files "$(many memory_with_files)" MiB
    [ "$(many dropped) $(many damaged) $(many demoted)" = "0 0 0" ] || failed=1
}

# ---- bytes ----
# Crawls site after site, each counted: SITE BYTES in $tmp/KIND.up. QUICK: all at once, not told apart.
fleet_crawl() { # KIND
    local p before
    : >"$tmp/$1.up"
    for p in $fleet_sites; do
        before=$relay_up
        fleet_channel "$p" "$1"
        [ "$quick" ] || fleet_quiet 300 || failed=1
        relay_count
        echo "$p $((relay_up - before))" >>"$tmp/$1.up"
    done
    [ -z "$quick" ] || fleet_quiet 300 || failed=1
    relay_count
}
# Every page once more, with conditional requests: nothing has changed.
fleet_recheck() {
    local up=$relay_up down=$relay_down id
    for id in $(fleet_overview '.channels[].id' channels); do "$orb" channel recheck "$id" --data "$shm/fleet" >/dev/null; done
    sleep 2
    fleet_quiet 300 || failed=1
    relay_count
    recheck_up=$((relay_up - up)) recheck_down=$((relay_down - down))
    recheck_pages=$(fleet_overview '[.channels[].unchanged] | add' channels)
}
# What the agents say that they sent, once their next reports are there, as a share of what went through the relay.
fleet_counters() {
    local counted
    for _ in $(seq 40); do
        relay_count
        counted=$(fleet_overview '[.agents[].bytes_sent] | add' agents)
        [ "$(calc "$counted >= $relay_up * 0.999 ? 1 : 0" 0)" = 1 ] && break
        sleep 0.5
    done
    calc "100 * $counted / $relay_up" 2
}
fleet_bytes() { # KIND BAR
    local kind=$1 p n pages html gzip all_pages=0 all_html=0 all_gzip=0 joining up control counters=0
    [ "$quick" ] || [ -s "$tmp/package.out" ] || $client "$build/bench/bench_package" "$sites" >"$tmp/package.out"
    fleet_start relay || return 1
    sleep 1
    relay_count
    joining=$relay_up
    fleet_crawl "$kind"
    up=$relay_up
    control=$((relay_up + relay_down - $(fleet_overview .totals.package_bytes)))
    if [ "$kind" = text ]; then
        fleet_recheck
        [ "$quick" ] || counters=$(fleet_counters)
    fi
    fleet_finish
    while read -r p n; do
        read -r pages html <<<"$(fleet_html "$shm/fleet" "$p")"
        all_pages=$((all_pages + pages)) all_html=$((all_html + html))
        [ "$quick" ] && continue
        # what gzip -6 makes of the site's files, for as much HTML as was crawled
        gzip=$(awk -v p="$p" -v html="$html" '$1 == p "_html" { h = $2 } $1 == p "_gzip" { g = $2 } END { printf "%.0f", h ? html * g / h : 0 }' "$tmp/package.out")
        all_gzip=$((all_gzip + gzip))
        figure "fleet_${kind}_of_$p" "$(calc "$html / $n" 1)" "HTML/socket"
        figure "fleet_${kind}_of_${p}_over_gzip" "$(calc "$gzip / $n" 1)" "gzip/socket"
    done <"$tmp/$kind.up"
    figure "fleet_$kind" "$(calc "$all_html / $up" 1)" "HTML/socket" ">=" "$2"
    [ "$quick" ] || figure "fleet_${kind}_over_gzip" "$(calc "$all_gzip / $up" 1)" "gzip/socket"
    figure "fleet_${kind}_pages" "$all_pages" pages
    figure "fleet_${kind}_bytes_per_page" "$(calc "$up / $all_pages" 0)" bytes
    figure "fleet_${kind}_control_per_page" "$(calc "$control / $all_pages" 1)" bytes
    figure "fleet_${kind}_joining" "$joining" bytes
    [ "$kind" = text ] || return 0
    figure fleet_recheck "$(calc "$recheck_up ? $all_html / $recheck_up : 0" 0)" "HTML/socket" ">=" 1000
    figure fleet_recheck_both_ways "$(calc "$recheck_up ? $all_html / ($recheck_up + $recheck_down) : 0" 0)" "HTML/socket"
    figure fleet_recheck_pages "$recheck_pages" pages
    [ "$quick" ] || figure fleet_counters "$counters" "% of the relay's count"
}

# ---- CPU: four agents and their coordinator, and orb crawl, in turn ----
per_page() { # PAGES FILE...
    local pages=$1
    shift
    calc "$(fleet_cpu "$@") * 1e6 / $pages" 0
    echo
}
fleet_round() {
    local p pages
    fleet_start || return 1
    for p in $fleet_sites; do fleet_channel "$p" text; done
    fleet_quiet 300 || failed=1
    fleet_finish
    pages=$("$orb" export --data "$shm/fleet" | wc -l)
    per_page "$pages" "$shm"/coordinator.time "$shm"/[abcd].time >>"$tmp/cpu.fleet"
    per_page "$pages" "$shm"/coordinator.time >>"$tmp/cpu.coordinator"
    echo "$pages" >"$tmp/pages.fleet"
}
alone_round() {
    local p pages
    rm -rf "$shm/alone"
    for p in $fleet_sites; do fleet_starts "$p"; done >"$tmp/fleet.seeds"
    fleet_run alone "$orb" crawl --data "$shm/alone" --seeds "$tmp/fleet.seeds" --hosts "$tmp/fleet.hosts" --allow-private --delay 0 --shards 1 --quiet
    wait "$job_alone"
    fleet_pids=""
    pages=$("$orb" export --data "$shm/alone" | wc -l)
    per_page "$pages" "$shm/alone.time" >>"$tmp/cpu.alone"
    echo "$pages" >"$tmp/pages.alone"
}
fleet_cpu_rounds() {
    local f a
    rm -f "$tmp"/cpu.fleet "$tmp"/cpu.coordinator "$tmp"/cpu.alone
    for _ in $(seq "$fleet_rounds"); do
        alone_round
        fleet_round || return 1
    done
    f=$(sort -n "$tmp/cpu.fleet" | head -n 1) a=$(sort -n "$tmp/cpu.alone" | head -n 1)
    figure fleet_cpu_pages "$(cat "$tmp/pages.fleet")" pages
    figure crawl_cpu_pages "$(cat "$tmp/pages.alone")" pages
    # not the same work: no ratio
    [ "$(cat "$tmp/pages.fleet")" = "$(cat "$tmp/pages.alone")" ] || f=0
    figure fleet_cpu "$f" us/page
    figure fleet_cpu_coordinator "$(sort -n "$tmp/cpu.coordinator" | head -n 1)" us/page
    figure crawl_cpu "$a" us/page
    figure fleet_cpu_over_crawl "$(calc "$a && $f ? $f / $a : 0" 3)" ratio "<=" 1.25
}

# FLEET_ONLY: some of many, bytes, cpu.
fleet_wants() { case ${FLEET_ONLY:-many bytes cpu} in *$1*) ;; *) false ;; esac }
if fleet_wants many; then fleet_many || failed=1; fi
if ! fleet_wants bytes && ! fleet_wants cpu; then
    :
elif fleet_web; then
    if fleet_wants bytes; then
        fleet_bytes text 20 || failed=1
        fleet_bytes keywords 35 || failed=1
    fi
    if fleet_wants cpu; then fleet_cpu_rounds || failed=1; fi
else
    failed=1
fi
fleet_end
[ -z "${fleet_is_alone:-}" ] || exit $failed
