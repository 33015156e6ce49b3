#!/bin/bash
# shellcheck disable=SC2154 # what bench/run sets
# Delegation to the nearest agent: the coordinator's decisions, played on worlds. Sourced by bench/run; alone: bash bench/nearest.sh
#
# Worlds that anyone can make (orb world make) first. Worlds on measured round trips come from outside the project: WORLDS names a folder with
# networks.tsv.zst, w4, w12, w48 and any number of 12-SEED of twelve agents; without it that part is left out, with a word. About eight minutes, most
# of them for 1,000 agents; QUICK=1: one.
if ! declare -F figure >/dev/null; then
    set -u
    here=$(cd "$(dirname "$0")" && pwd)
    top=$(cd "$here/.." && pwd)
    build=${BUILD:-$top/build}
    quick=${QUICK:-}
    orb=$build/src/cli/orb
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-bench.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    calc() { awk "BEGIN { printf \"%.${2:-2}f\", ($1) }"; }
    figure() { echo "$@"; }
fi
export ORB_CONFIG=/dev/null

# Plays a strategy on worlds, two at a time; sets near, least (the worst world), optimal, ratio, probes, measured, first, last, cpu (us a decision):
# means over them. All figures are in $tmp/played.
play() { # STRATEGY "OPTION..." WORLD...
    local strategy=$1 options=$2
    shift 2
    rm -f "$tmp"/played.*
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | xargs -P 2 -I{} sh -c '"$1" sim delegate --world "$2" $3 --strategy "$4" --seed 1 --json >"$5/played.${2##*/}" 2>"$5/err.${2##*/}" ||
        tail -n 1 "$5/err.${2##*/}" >&2' sh "$orb" {} "$options" "$strategy" "$tmp"
    cat "$tmp"/played.* >"$tmp/played"
    read -r near least optimal ratio probes measured first last cpu <<<"$(mean '
        [m(.near) * 100, (map(.near) | min) * 100, m(.optimal) * 100, m(.rtt_ratio), m(.probes), m(.measurements), m(.probes_first), m(.probes_last), m(.cpu_us)]
        | map(. * 1000 | round / 1000) | join(" ")')"
}
mean() { # FILTER; m(x) is the mean of those that know x
    jq -rs "def m(k): (map(k) | map(select(. != null))) | if length > 0 then add / length else 0 end; $1" "$tmp/played"
}
round3() { mean "($1) * 1000 | round / 1000"; }

tell() { # NAME
    figure "${1}_near" "$near" "% of sites"
    figure "${1}_near_worst_world" "$least" "% of sites"
    figure "${1}_optimal" "$optimal" "% of sites"
    figure "${1}_rtt_over_optimum" "$ratio" ratio
    figure "${1}_probes" "$probes" "a site"
    figure "${1}_measurements" "$measured" "a site, first fetches of owners among them"
}

# ---- worlds anyone can make ----
made=""
for seed in 1 2 3 4 5 6 7 8 9 10; do
    [ "$quick" ] && [ "$seed" -gt 3 ] && break
    "$orb" world make --agents 12 --sites 1000 --seed "$seed" -o "$tmp/made-$seed" >/dev/null 2>"$tmp/err" || tail -n 1 "$tmp/err" >&2
    made="$made $tmp/made-$seed"
done
for strategy in random ipmicra; do
    # shellcheck disable=SC2086
    play $strategy "" $made
    tell "made_$strategy"
    [ $strategy = ipmicra ] && theirs=$probes
done
# shellcheck disable=SC2086
play learned "" $made
figure made_learned_near "$near" "% of sites" ">=" 97
figure made_learned_near_worst_world "$least" "% of sites"
figure made_learned_optimal "$optimal" "% of sites"
figure made_learned_rtt_over_optimum "$ratio" ratio "<=" 1.02
figure made_learned_probes "$probes" "a site" "<=" 1.8
figure made_learned_measurements "$measured" "a site, first fetches of owners among them"
figure made_learned_probes_over_ipmicra "$(calc "$probes / $theirs" 3)" ratio "<=" 0.333
figure made_learned_cpu "$(calc "$cpu / 1000" 3)" "ms a decision, 12 agents" "<=" 2
# shellcheck disable=SC2086
play learned "--family 6" $made
figure made_learned_ipv6_near "$near" "% of sites" ">=" 97
figure made_learned_ipv6_probes "$probes" "a site; half as many sites to learn from"

# ---- fewer probes over time: 5,000 sites ----
longer=""
for seed in 1 2 3 4 5 6 7 8 9 10; do
    [ "$quick" ] && [ "$seed" -gt 2 ] && break
    "$orb" world make --agents 12 --sites 5000 --seed "$seed" -o "$tmp/longer-$seed" >/dev/null 2>&1
    longer="$longer $tmp/longer-$seed"
done
# shellcheck disable=SC2086
play learned "" $longer
figure longer_learned_near "$near" "% of 5,000 sites"
figure longer_learned_probes_first_tenth "$first" "a site"
figure longer_learned_probes_last_tenth "$last" "a site"
figure longer_learned_last_over_first_tenth "$(calc "$last / $first" 3)" ratio "<=" 0.8
rm -rf "$tmp"/longer-*

# ---- balance: small worlds, against the exact optimum; its numbers were chosen on seeds 1 to 10 ----
small=""
for seed in 11 12 13 14 15 16 17 18 19 20; do
    [ "$quick" ] && [ "$seed" -gt 14 ] && break
    "$orb" world make --agents 6 --sites 300 --seed "$seed" -o "$tmp/small-$seed" >/dev/null 2>&1
    small="$small $tmp/small-$seed"
done
for rule in gain variance next-best; do
    # shellcheck disable=SC2086
    play learned "--capacity 1.2 --balance $rule" $small
    best=$(round3 'm(.balance_best) * 100') over=$(round3 'm(.balance_ratio)')
    within=$(round3 '100 - 100 * m(.over_capacity) / m(.agents)')
    if [ $rule = gain ]; then
        figure balance_gain_best_choice "$best" "% of choices" ">=" 66.667
        figure balance_gain_cost_over_optimum "$over" ratio "<=" 1.05
        figure balance_gain_within_capacity "$within" "% of agents" ">=" 100
        figure balance_gain_probes "$(round3 'm(.balance_probes)')" "a site, beside those of delegation"
    else
        figure "balance_${rule}_best_choice" "$best" "% of choices"
        figure "balance_${rule}_cost_over_optimum" "$over" ratio
        figure "balance_${rule}_within_capacity" "$within" "% of agents"
    fi
done

# ---- calibration ----
drift() { # NAME "OPTION..." WORLD...
    local name=$1 options=$2 kind
    shift 2
    for kind in paths both servers none; do
        play learned "$options --drift $kind" "$@"
        if [ $kind = paths ]; then
            figure "${name}_paths_changed_rtt_over_optimum" "$(round3 'm(.drift.ratio_changed)')" ratio
            figure "${name}_paths_calibrated_rtt_over_optimum" "$(round3 'm(.drift.ratio_after)')" ratio "<=" 1.05
            figure "${name}_paths_calibrated_probes" "$(round3 'm(.drift.probes_extra)')" "a site" "<=" 0.5
        elif [ $kind = both ]; then # an agent that has become nearer is not noticed by anybody: no bar
            figure "${name}_both_changed_rtt_over_optimum" "$(round3 'm(.drift.ratio_changed)')" ratio
            figure "${name}_both_calibrated_rtt_over_optimum" "$(round3 'm(.drift.ratio_after)')" ratio
        elif [ $kind = servers ]; then
            figure "${name}_slow_servers_stay" "$(mean '100 - 100 * (map(.drift.moves) | add) / (map(.drift.networks) | add)')" "% of networks" ">=" 100
        else
            figure "${name}_noise_stay" "$(mean '100 - 100 * m(.drift.moves_share_a_day)')" "% of networks a day" ">=" 99.9
        fi
    done
}
# What a probe must gain when a network is decided anew was chosen with seeds 1 to 5 in view.
# shellcheck disable=SC2046
drift drift "" $([ "$quick" ] && echo "$tmp/made-1" || echo "$tmp"/made-{6,7,8,9,10})

# ---- 1,000 agents ----
many() { # SITES STRATEGY; sets seconds, mib, cpu
    "$orb" sim delegate --world "$tmp/many" --sites "$1" --strategy "$2" --seed 1 --json >"$tmp/played" 2>"$tmp/err" || tail -n 1 "$tmp/err" >&2
    read -r seconds mib <<<"$(tr '\r' '\n' <"$tmp/err" | sed -n 's/.*orb sim: \([0-9.]*\) s, \([0-9]*\) MB$/\1 \2/p' | tail -n 1)"
    mib=$(calc "$mib / 1.048576" 0)
    cpu=$(round3 'm(.cpu_us) / 1000')
}
few=$([ "$quick" ] && echo 500 || echo 10000) lots=$([ "$quick" ] && echo 2000 || echo 100000) million=$([ "$quick" ] && echo 20000 || echo 1000000)
"$orb" world make --agents 1000 --sites "$million" --seed 1 -o "$tmp/many" >/dev/null 2>&1
for strategy in hash ipmicra; do
    many "$million" $strategy
    figure "many_${strategy}_time" "$seconds" "s, $million sites" "<=" 600
    figure "many_${strategy}_memory" "$mib" MiB "<=" 2048
    figure "many_${strategy}_cpu" "$cpu" "ms a decision" "<=" 5
done
many "$few" learned
before=$cpu
many "$lots" learned
figure many_learned_time "$seconds" "s, $lots sites" "<=" 600
figure many_learned_memory "$mib" MiB "<=" 2048
figure many_learned_cpu "$cpu" "ms a decision" "<=" 5
figure many_learned_cpu_growth "$(calc "$cpu / $before" 2)" "ratio, $lots sites over $few" "<=" 1.1
figure many_learned_near "$(round3 'm(.near) * 100')" "% of sites"
figure many_learned_probes "$(round3 'm(.probes)')" "a site"

# ---- the registry hierarchy ----
hierarchy_figures() { # NAME FILE
    local name value unit
    "$build/bench/hierarchy_bench" "$2" >"$tmp/hierarchy" || return
    nodes=$(awk '$1 == "hierarchy_nodes" { print $2 }' "$tmp/hierarchy")
    figure "$1_hierarchy_networks" "$nodes" networks
    while read -r name value unit; do
        case $name in
            hierarchy_build) figure "$1_hierarchy_build_of_1300000" "$(calc "$value * 1300000 / $nodes" 2)" "s, by proportion" "<=" 3 ;;
            hierarchy_lookup_v4 | hierarchy_lookup_v6) figure "$1_$name" "$value" ns "<=" 200 ;;
            hierarchy_bytes_per_node) figure "$1_$name" "$value" "bytes a node" "<=" 64 ;;
            hierarchy_open) figure "$1_$name" "$value" ms "<=" 5 ;;
            hierarchy_height) figure "$1_$name" "$value" "$unit" ;;
        esac
    done <"$tmp/hierarchy"
}
hierarchy_figures made "$(find "$tmp/many" -name 'networks.tsv*')"
rm -rf "$tmp/many"

# ---- worlds on measured round trips ----
worlds=${WORLDS:-}
if [ ! -f "$worlds/networks.tsv.zst" ]; then
    echo "# WORLDS is not set: worlds on measured round trips are left out"
else
    hierarchy_figures measured "$worlds/networks.tsv.zst"
    "$orb" hierarchy build --in "$worlds/networks.tsv.zst" -o "$tmp/hier" >/dev/null 2>&1
    unseen=$(find "$worlds/" -maxdepth 1 -name '12-*' | LC_ALL=C sort | head -n "$([ "$quick" ] && echo 2 || echo 100)")
    if [ "$unseen" ]; then
        for threshold in 50 25; do
            # shellcheck disable=SC2086
            play ipmicra "--hierarchy $tmp/hier --threshold $threshold" $unseen
            tell "measured_12_ipmicra_$threshold"
            best_ipmicra=$near ipmicra_probes=$probes
        done
        for cost in $([ "$quick" ] || echo 0.3 0.8 1.2); do
            # shellcheck disable=SC2086
            play learned "--hierarchy $tmp/hier --cost $cost" $unseen
            tell "measured_12_learned_at_$cost"
        done
        # shellcheck disable=SC2086
        play learned "--hierarchy $tmp/hier" $unseen
        figure measured_12_learned_near "$near" "% of sites" ">=" 97
        figure measured_12_learned_near_worst_world "$least" "% of sites"
        figure measured_12_learned_optimal "$optimal" "% of sites"
        figure measured_12_learned_rtt_over_optimum "$ratio" ratio "<=" 1.02
        figure measured_12_learned_probes "$probes" "a site" "<=" 1.8
        figure measured_12_learned_measurements "$measured" "a site, first fetches of owners among them"
        figure measured_12_learned_cpu "$(calc "$cpu / 1000" 3)" "ms a decision" "<=" 2
        figure measured_12_learned_near_over_ipmicra_25 "$(calc "$near / $best_ipmicra" 3)" ratio ">=" 1
        figure measured_12_learned_probes_over_ipmicra_25 "$(calc "$probes / $ipmicra_probes" 3)" ratio "<=" 0.333
        # shellcheck disable=SC2086,SC2046
        drift measured_12_drift "--hierarchy $tmp/hier" $(head -n "$([ "$quick" ] && echo 1 || echo 5)" <<<"$unseen")
        # shellcheck disable=SC2086
        play learned "--hierarchy $tmp/hier --capacity 1.2" $unseen
        figure measured_12_balance_cost_over_optimum "$(round3 'm(.balance_ratio)')" ratio "<=" 1.05
        figure measured_12_balance_best_choice "$(round3 'm(.balance_best) * 100')" "% of choices"
        figure measured_12_balance_within_capacity "$(round3 '100 - 100 * m(.over_capacity) / m(.agents)')" "% of agents" ">=" 100
        figure measured_12_balance_probes "$(round3 'm(.balance_probes)')" "a site, beside those of delegation"
    fi
    for w in $([ "$quick" ] && echo w4 w12 || echo w4 w12 w48); do
        play learned "--hierarchy $tmp/hier" "$worlds/$w"
        tell "measured_${w}_learned"
    done
fi
