#!/bin/sh
# shellcheck disable=SC2154 # variables of whoever sources it
# lab_fleet.sh - a coordinator, real agents and the sites of a made-up world in the lab's router. Sourced by nearest.sh, drift.sh and
# bench/live.sh, which set orb, orb_agent, orb_lab and tmp; run by itself inside of the lab (lab_fleet_run starts it so).
#
#     lab_fleet_world 6 60 11                 agents, sites, seed: $tmp/world, $tmp/hierarchy, $tmp/lab
#     lab_fleet_may                           0: the lab comes up; 1: no namespaces for us; 2: broken, $tmp/err says why
#     lab_fleet_run learned 60 [HOOK]         strategy, seconds; HOOK is a script that runs inside once all is decided, and crawled
#     lab_fleet_judge learned                 sets sites equal near probes ratio: against the nearest agents
#     lab_fleet_figures learned               sets pages crawl_s site_s request_ms flight carried late_ms: of the crawl
#
# fleet_serve, fleet_coordinator: options of servers and coordinator; fleet_delay: ms between two requests to a site; fleet_is_endless: not everything is to be crawled.

if [ "${1:-}" = --inside ]; then
    tmp=$2 lab=$3 orb=$4 agent=$5 strategy=$6 seconds=$7 hook=${8:-}
    cd "$tmp" && mkdir -p "$strategy" && cd "$strategy" || exit 4
    # shellcheck disable=SC2086
    "$lab" in servers "$lab" serve $fleet_serve --ledger ledger "$tmp/lab" >serve.out 2>serve.err &
    pids=$!
    # shellcheck disable=SC2086
    "$orb" coordinator --data fleet --listen 198.18.0.1:7443 --resolver 198.18.0.53 --hierarchy "$tmp/hierarchy" --strategy "$strategy" \
        $fleet_coordinator >fleet.out 2>fleet.log &
    coordinator=$!
    until_true() { # SECONDS COMMAND...
        late=$(($(date +%s) + $1))
        shift
        while ! "$@" 2>/dev/null; do
            [ "$(date +%s)" -lt $late ] || return 1
            sleep 0.2
        done
    }
    is_up() { grep -q 'add an agent' fleet.out && grep -q ^ready serve.out; }
    until_true 20 is_up || { cat fleet.log serve.err >&2; exit 1; }
    tab=$(printf '\t')
    tail -n +2 "$tmp/world/agents.tsv" >agents
    while IFS="$tab" read -r name _ _ lat lon _; do
        line=$("$orb" agent add "$name" --at "$lat,$lon" --data fleet --json | jq -r .line | sed 's/.*--join //')
        "$lab" in "$name" "$agent" --data "$name" --join "$line" --resolver 198.18.0.53 --delay "$fleet_delay" >"$name.log" 2>&1 &
        pids="$pids $!"
    done <agents
    # All are there, and have measured the ways between them.
    all_there() { [ "$("$orb" agent list --data fleet --json | jq '[.agents[] | select(.heard_s != null)] | length')" = "$(wc -l <agents)" ]; }
    until_true 20 all_there || echo "not all agents came" >&2
    sleep 1
    "$lab" show seeds "$tmp/lab" >seeds
    "$lab" show nearest "$tmp/lab" >nearest
    "$lab" show sites "$tmp/lab" >sites
    "$lab" show places "$tmp/lab" >places
    date +%s.%N >begin
    "$orb" channel import --data fleet seeds >import.out 2>&1
    most=$(echo "$fleet_serve" | sed -n 's/.*--pages \([0-9]*\).*/\1/p')
    wanted=$(awk -F'\t' -v most="${most:-1000000}" '{ n += $4 < most ? $4 : most } END { print n }' sites)
    pages() { awk -F'\t' '$5 == "GET" && $6 !~ /^\/(robots.txt$|sitemap)/ && $7 == 200 && !(($4, $6) in was) { was[$4, $6]; n++ } END { print n + 0 }' ledger; }
    networks() { "$orb" network list --data fleet --json >networks.new 2>/dev/null && mv networks.new networks.json; }
    is_settled() {
        networks && [ "$(jq '[.networks[] | select(.state == "owned" and (.trial | not) and .rtt_ms > 0)] | length' networks.json)" = "$(jq .total networks.json)" ] &&
            { [ "$fleet_is_endless" ] || [ "$(pages)" -ge "$wanted" ]; }
    }
    until_true "$seconds" is_settled || echo "not all of it in $seconds s: $(pages) of $wanted pages" >&2
    networks
    "$orb" nearest --data fleet --json "$(awk -F'\t' 'NR == 2 { print $2 }' "$tmp/world/sites.tsv")" 192.0.2.1 >asked.json 2>asked.err
    "$orb" explain --data fleet "$(head -n 1 seeds)" >explain.out 2>explain.err
    "$orb" explain --data fleet --json "$(head -n 1 seeds)" >explain.json 2>>explain.err
    if [ "$hook" ]; then
        # shellcheck source=/dev/null
        . "$hook"
    fi
    # shellcheck disable=SC2086
    kill $pids 2>/dev/null # agents send what they have
    sleep 1
    kill "$coordinator" 2>/dev/null
    wait "$coordinator" 2>/dev/null
    exit 0
fi

fleet_serve="--pages 3" fleet_delay=250 fleet_is_endless="" fleet_coordinator=""
lab_fleet_self=${lab_fleet_self:-$(dirname "$0")/lab_fleet.sh}

lab_fleet_world() { # AGENTS SITES SEED
    rm -rf "$tmp/world"
    "$orb" world make --agents "$1" --sites "$2" --seed "$3" -o "$tmp/world" >"$tmp/out" 2>&1 &&
        "$orb" hierarchy build --in "$tmp"/world/networks.tsv* -o "$tmp/hierarchy" >>"$tmp/out" 2>&1 || return 1
    echo "world $tmp/world" >"$tmp/lab"
}

lab_fleet_may() {
    "$orb_lab" up --quiet "$tmp/lab" true 2>"$tmp/err" && return 0
    grep -q 'needs network namespaces' "$tmp/err" && return 1
    return 2
}

lab_fleet_run() { # STRATEGY SECONDS [HOOK]
    export fleet_serve fleet_delay fleet_is_endless fleet_coordinator
    timeout $(($2 + 180)) "$orb_lab" up "$tmp/lab" sh "$lab_fleet_self" --inside "$tmp" "$orb_lab" "$orb" "$orb_agent" "$1" "$2" "${3:-}" >"$tmp/run.out" 2>&1
    [ -s "$tmp/$1/networks.json" ]
}

# Which agent each site went to, and how far it is against the nearest.
lab_fleet_judge() { # STRATEGY
    jq -r '.networks[] | .agent as $a | .names[] | [., $a] | @tsv' "$tmp/$1/networks.json" >"$tmp/$1/got"
    probes=$(jq '[.networks[] | .agent as $a | [.probes[] | select(.agent != $a)] | length] | add' "$tmp/$1/networks.json")
    judged=$(awk -F'\t' '
        FILENAME ~ /got$/ { got[$1] = $2; next }
        FILENAME ~ /nearest$/ { near[$1] = $2; best[$1] = $3; next }
        FNR == 1 { for (i = 2; i <= NF; i++) col[$i] = i; next }
        ($1 in got) && (got[$1] in col) {
            n++; ms = $(col[got[$1]]); equal += got[$1] == near[$1]; ok += ms <= best[$1] + 5; sum += ms; least += best[$1]
        }
        END { printf "%d %d %d %.3f\n", n, equal, ok, least ? sum / least : 0 }' \
        "$tmp/$1/got" "$tmp/$1/nearest" "$tmp/world/rtt.tsv")
    # shellcheck disable=SC2086
    set -- $judged
    sites=$1 equal=$2 near=$3 ratio=$4
}

# The crawl, by the servers' ledger: from the order to the last page, of all and on average of a site; what each request carried over which
# distance (MB x ms of round trip). How long requests took, by the pages' records; requests in flight are their number x that / the whole
# time (Little). Last, how late the router was: over a millisecond and the machine was too busy to say much.
lab_fleet_figures() { # STRATEGY
    request_ms=$("$orb" export --data "$tmp/$1/fleet" --states 2>/dev/null | jq -s '[.[].state.total_us | select(. > 0)] | if length > 0 then add / length / 1000 else 0 end')
    figures=$(awk -F'\t' -v start="$(cat "$tmp/$1/begin")" -v request_ms="$request_ms" '
        FILENAME ~ /places$/ { who[$3] = who[$4] = $1; next }
        FILENAME ~ /rtt.tsv$/ { if (FNR == 1) for (i = 2; i <= NF; i++) col[i] = $i; else for (i = 2; i <= NF; i++) ms[$1, col[i]] = $i; next }
        $5 == "GET" { requests++; carried += $8 * ms[$4, who[$2]]; if ($7 == 200 && $6 !~ /^\/(robots.txt$|sitemap)/) { pages++; last[$4] = stop = $1 } }
        END {
            s = stop - start
            for (h in last) { n++; sum += last[h] - start }
            printf "%d %.1f %.1f %.1f %.2f %.1f\n", pages, s, n ? sum / n : 0, request_ms, (s > 0 ? requests * request_ms / 1000 / s : 0), carried / 1e6
        }' "$tmp/$1/places" "$tmp/world/rtt.tsv" "$tmp/$1/ledger")
    late_ms=$(sed -n 's/.*(median), \([0-9.]*\) ms (99 %.*/\1/p' "$tmp/run.out" | tail -n 1)
    # shellcheck disable=SC2086
    set -- $figures
    pages=$1 crawl_s=$2 site_s=$3 request_ms=$4 flight=$5 carried=$6
}
