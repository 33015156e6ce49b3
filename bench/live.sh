#!/bin/bash
# shellcheck disable=SC2154 # what bench/run and lab_fleet.sh set
# What the nearest agent is worth, with real processes: a coordinator, six agents and sixty sites in the lab's router, crawled once with
# --strategy learned and once with --strategy random. Sourced by bench/run; alone: bash bench/live.sh. Left out where namespaces are refused.
#
# The pause between two requests to a site is as short as agents allow (250 ms), and every page takes a connection of its own, so that
# distances show.
if ! declare -F figure >/dev/null; then
    set -u
    here=$(cd "$(dirname "$0")" && pwd)
    top=$(cd "$here/.." && pwd)
    build=${BUILD:-build}
    case $build in /*) ;; *) build=$top/$build ;; esac
    quick=${QUICK:-}
    [ "$quick" = 0 ] && quick=
    orb=$build/src/cli/orb
    [ -x "$orb" ] || orb=$build/orb
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-bench.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT TERM HUP PIPE
    calc() { awk "BEGIN { printf \"%.${2:-2}f\", ($1) }"; }
    figure() { echo "$@"; }
fi
export ORB_CONFIG=/dev/null ORB_AGENT_CONFIG=/dev/null

live() {
    local tmp=$tmp/live orb_agent=$build/src/agent/orb-agent orb_lab=$build/lab/orb-lab lab_fleet_self=$top/tests/scenario/lab_fleet.sh
    local sites=60 most=16 strategy all near_of_learned equal near probes ratio pages crawl_s site_s request_ms flight carried late_ms judged figures
    [ -x "$orb_agent" ] || orb_agent=$build/orb-agent
    [ -x "$orb_lab" ] || orb_lab=$build/orb-lab
    [ "$quick" ] && sites=24 most=6
    all=$sites
    mkdir -p "$tmp"
    # shellcheck source=/dev/null
    . "$lab_fleet_self"
    lab_fleet_world 6 "$all" 11 || { tail -n 1 "$tmp/out" >&2; return; }
    lab_fleet_may
    case $? in
    1) echo "# no user namespaces for us: figures of live agents are left out" && return ;;
    2) tail -n 1 "$tmp/err" >&2 && return ;;
    esac
    fleet_serve="--pages $most --bytes 60000 --close"
    echo "# live: 6 agents, $all sites of up to $most pages of up to 60 kB, a connection a page, $fleet_delay ms between two requests to a site"
    for strategy in learned random; do
        if ! lab_fleet_run $strategy "$([ "$quick" ] && echo 25 || echo 150)"; then
            tail -n 3 "$tmp/run.out" >&2
            return
        fi
        lab_fleet_judge $strategy
        lab_fleet_figures $strategy
        if [ $strategy = learned ]; then
            figure live_sites "$all" sites
            figure live_learned_near "$(calc "100 * $near / $all" 1)" "% of sites" ">=" 95
        else
            figure live_random_near "$(calc "100 * $near / $all" 1)" "% of sites"
        fi
        figure "live_${strategy}_nearest" "$equal" "sites at the nearest agent"
        figure "live_${strategy}_rtt_over_optimum" "$ratio" ratio
        figure "live_${strategy}_probes" "$(calc "$probes / $all" 2)" "a site"
        figure "live_${strategy}_pages" "$pages" pages
        figure "live_${strategy}_crawl" "$crawl_s" s
        figure "live_${strategy}_site" "$site_s" "s until a site is crawled, mean"
        figure "live_${strategy}_request" "$request_ms" ms
        figure "live_${strategy}_in_flight" "$flight" "requests, mean"
        figure "live_${strategy}_carried" "$carried" "MB x ms"
        figure "live_${strategy}_router_late" "$late_ms" "ms (99 %)"
        if [ $strategy = learned ]; then
            set -- "$crawl_s" "$site_s" "$request_ms" "$flight" "$carried"
        else
            figure live_crawl_over_random "$(calc "$1 / $crawl_s")" ratio
            figure live_site_over_random "$(calc "$2 / $site_s")" ratio
            figure live_request_over_random "$(calc "$3 / $request_ms")" ratio
            figure live_in_flight_over_random "$(calc "$4 / $flight")" ratio
            figure live_carried_over_random "$(calc "$5 / $carried")" ratio
        fi
    done
    rm -rf "$tmp"
}
live
