#!/bin/bash
# shellcheck disable=SC2154 # what bench/run sets
# Recrawling: the coordinator's decisions, played. Sourced by bench/run; alone: bash bench/recrawl.sh
#
# Constants and encouragements were chosen on seeds from 11 on; what is reported is of seeds 1 to 5. A history of pages that really changed
# (docs/formats/changes.md) comes from outside the project: CHANGES names the file; without it that part is left out, with a word. About half an hour; QUICK=1: one minute.
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
recrawl_bench=$build/bench/bench_recrawl
recrawl_steps=$([ "$quick" ] && echo 21600 || echo 90000) # intervals of iir and icr drift for long
recrawl_seeds=$([ "$quick" ] && echo 1 || echo "1 2 3 4 5")
recrawl_jobs=$(nproc)
mkdir -p "$tmp/recrawl"

# ---- change rates ----
of_recrawl() { awk -v n="$1" '$1 == n { print $2 }' "$tmp/recrawl/out"; }
# shellcheck disable=SC2086
"$recrawl_bench" rate $recrawl_seeds >"$tmp/recrawl/out"
for visits in 10 50; do
    figure "rate_error_${visits}_visits" "$(of_recrawl rate_rms_${visits}_visits)" "of the bound, root mean square" "<=" 1.15
    figure "rate_error_${visits}_visits_worst_seed" "$(of_recrawl rate_rms_${visits}_visits_most)" "of the bound" "<=" 1.15
done
if [ -f "${CHANGES:-}" ]; then
    "$recrawl_bench" history "$CHANGES" >"$tmp/recrawl/out"
    for every in 30_days 120_days 30_days_with_mass_edits; do
        figure "measured_history_${every}_own_frequency" "$(of_recrawl history_${every}_own_frequency)" "Brier score"
        figure "measured_history_${every}_rate_alone_better_by" "$(of_recrawl history_${every}_rate_alone)" %
        figure "measured_history_${every}_better_by" "$(of_recrawl history_${every}_better)" % ">=" 10
    done
else
    echo "# CHANGES is not set: histories of pages that really changed are left out"
fi

# ---- many channels, live ----
recrawl_many=$([ "$quick" ] && echo 100000 || echo 1000000)
"$recrawl_bench" many "$recrawl_many" >"$tmp/recrawl/out"
figure recrawl_decision "$(of_recrawl many_decision)" "us, greedy, $recrawl_many channels" "<=" 10
figure recrawl_longest_call "$(of_recrawl many_longest)" "ms, one call for a decision; $(of_recrawl many_slices) calls only went on with a search" "<=" 1
figure recrawl_longest_result "$(of_recrawl many_longest_done)" "ms, one call with a result" "<=" 1
figure recrawl_bytes "$(of_recrawl many_bytes)" "bytes a channel" "<=" 100

# ---- runs ----
# Plays strategies with numbers of agents and seeds, as many at a time as there are cores; a file each.
recrawl_play() { # NAME "STRATEGY..." "AGENTS..." "OPTION..."
    local s a seed
    for s in $2; do
        for a in $3; do
            for seed in $recrawl_seeds; do echo "$1-$s-$a-$seed --strategy $s --agents $a --seed $seed $4 $(recrawl_encouraged "$s" "$a")"; done
        done
    done | xargs -P "$recrawl_jobs" -I{} sh -c 'set -- $3; name=$1; shift; exec "$ORB_BENCH" sim recrawl "$@" --json >"$TMP_BENCH/$name" 2>"$TMP_BENCH/$name.err"' sh "$orb" "$tmp/recrawl" {}
}
# The best encouragement of the sweep (below, and docs/recrawl.md), found on seeds 11 to 13: under shortage the best quality among those that also empty the queues.
recrawl_encouraged() { # STRATEGY AGENTS
    case $1-$2 in
        iir-1400 | iir-400) echo --encouragement 0.7 ;;
        icr-1400 | icr-400) echo --encouragement 0.62 ;;
        iir-* | icr-*) echo --encouragement 0.5 ;;
    esac
}
export ORB_BENCH=$orb TMP_BENCH=$tmp/recrawl
# Mean, least and most of a filter over the seeds' files.
recrawl_mean() { jq -s "map($3) | add / length * 100000 | round / 100000" "$tmp/recrawl/$1-$2"-?; }
recrawl_range() { jq -rs "map($3) | \"\(min * 10000 | round / 10000) to \(max * 10000 | round / 10000)\"" "$tmp/recrawl/$1-$2"-?; }

recrawl_play size "fixed iir icr greedy" "1400 2800 5600" "--steps $recrawl_steps"
for a in 1400 2800 5600; do
    figure "recrawl_${a}_capacity" "$(recrawl_mean size "fixed-$a" .capacity)" "of what fixed asks for"
    for s in fixed iir icr greedy; do
        figure "recrawl_${a}_${s}_freshness" "$(recrawl_mean size "$s-$a" .freshness_weighted)" "weighted; seeds $(recrawl_range size "$s-$a" .freshness_weighted)"
        figure "recrawl_${a}_${s}_quality" "$(recrawl_mean size "$s-$a" .update_quality_weighted)" "weighted; seeds $(recrawl_range size "$s-$a" .update_quality_weighted)"
        figure "recrawl_${a}_${s}_busy" "$(recrawl_mean size "$s-$a" .busy)" "of the threads' time"
    done
    figure "recrawl_${a}_optimum" "$(recrawl_mean size "greedy-$a" .optimum_weighted)" "freshness, weighted"
done
# Ratios seed by seed: fixed's file of the same seed beside each.
recrawl_by_fixed() { # STRATEGY AGENTS FIELD: worst seed's ratio
    local seed
    for seed in $recrawl_seeds; do
        jq -s "(.[0]$3) / (.[1]$3)" "$tmp/recrawl/size-$1-$2-$seed" "$tmp/recrawl/size-fixed-$2-$seed"
    done | sort -g >"$tmp/recrawl/ratios"
    echo "$(tail -n 1 "$tmp/recrawl/ratios") $(head -n 1 "$tmp/recrawl/ratios")"
}
for s in iir icr; do
    read -r most _ <<<"$(recrawl_by_fixed $s 1400 .tasks)"
    figure "recrawl_shortage_${s}_tasks" "$(calc "$most" 3)" "of fixed's, worst seed" "<=" 0.6
    read -r most _ <<<"$(recrawl_by_fixed $s 1400 .queued_mean)"
    figure "recrawl_shortage_${s}_queues" "$(calc "$most" 3)" "of fixed's, worst seed" "<=" 0.2
    read -r _ least <<<"$(recrawl_by_fixed $s 1400 .update_quality_weighted)"
    figure "recrawl_shortage_${s}_quality" "$(calc "$least" 3)" "of fixed's, worst seed (paper: 1.01)"
    gap=$(jq -s "map(.intervals[4] / .intervals[0]) | $([ $s = iir ] && echo max || echo min) * 1000 | round / 1000" "$tmp/recrawl/size-$s-1400"-?)
    figure "recrawl_shortage_${s}_rank_4_over_rank_0" "$gap" "intervals, worst seed; fixed 16" "$([ $s = iir ] && echo "<=" || echo ">=")" 16
    read -r _ least <<<"$(recrawl_by_fixed $s 5600 .update_quality_weighted)"
    figure "recrawl_surplus_${s}_quality" "$(calc "$least" 3)" "of fixed's, worst seed" ">=" 1.6
    read -r _ least <<<"$(recrawl_by_fixed $s 2800 .update_quality_weighted)"
    figure "recrawl_2800_${s}_quality_by_fixed" "$(calc "$least" 3)" "of fixed's, worst seed"
done

# How much of the way from the best of the others to the optimum greedy goes, and how near it comes: a line a seed.
recrawl_closed() { # NAME AGENTS FILTER-OF-FRESHNESS FILTER-OF-OPTIMUM
    local seed
    for seed in $recrawl_seeds; do
        jq -rs "(map($3) | .[0:3] | max) as \$best | (.[3] | $3) as \$ours | (.[3] | $4) as \$optimum
            | \"\((\$ours - \$best) / ([\$optimum - \$best, 0.00001] | max)) \(\$ours / \$optimum) \(\$ours - \$best)\"" \
            "$tmp/recrawl/$1-fixed-$2-$seed" "$tmp/recrawl/$1-iir-$2-$seed" "$tmp/recrawl/$1-icr-$2-$seed" "$tmp/recrawl/$1-greedy-$2-$seed"
    done >"$tmp/recrawl/closed"
}
recrawl_column() { awk -v c="$1" '{ s += $c; if (NR == 1 || $c < least) least = $c; if (NR == 1 || $c > most) most = $c } END { printf "%.4f %.4f %.4f\n", s / NR, least, most }' "$tmp/recrawl/closed"; }
recrawl_tell_closed() { # NAME
    local mean least most
    read -r mean least most <<<"$(recrawl_column 1)"
    figure "$1_gap_closed" "$mean" "mean; seeds $least to $most" ">=" 0.667
    read -r mean least most <<<"$(recrawl_column 2)"
    figure "$1_of_optimum" "$mean" "mean; seeds $least to $most" ">=" 0.95
    read -r mean least most <<<"$(recrawl_column 3)"
    figure "$1_ahead_of_the_best_other" "$least" "freshness, worst seed" ">=" 0
}
for a in 1400 2800 5600; do
    recrawl_closed size $a .freshness_weighted .optimum_weighted
    recrawl_tell_closed "greedy_$a"
done
# A bar of "none" is one of "all" here: figures of 0 are none that were measured.
figure greedy_visited_in_second_half "$(jq -s 'map(1 - .starved / 17777) | min' "$tmp"/recrawl/size-greedy-*[0-9])" "of the channels, worst run: nobody starves" ">=" 1
for s in fixed iir icr greedy; do
    figure "${s}_visits_a_change" "$(jq -s 'map(.visits_a_change_most) | max' "$tmp"/recrawl/size-$s-*[0-9])" "true ones; of a rank, at most" "<=" 2
done

# ---- capacity that changes: half of the agents leave for a day, then there are twice as many ----
recrawl_swing=$([ "$quick" ] && echo 3600 || echo 20160)
recrawl_play swing "fixed iir icr greedy" "$([ "$quick" ] && echo 1400 || echo 1400 2800)" "--steps $((recrawl_swing * 2)) --swing $recrawl_swing"
for a in $([ "$quick" ] && echo 1400 || echo 1400 2800); do
    for phase in 0 1 2; do
        recrawl_closed swing "$a" ".phases[$phase].freshness_weighted" ".phases[$phase].optimum_weighted"
        recrawl_tell_closed "greedy_swing_${a}_$([ $phase = 0 ] && echo before || { [ $phase = 1 ] && echo half || echo double; })"
    done
done

# ---- a history that is replayed ----
if [ -f "${CHANGES:-}" ]; then
    # Nobody is told the true rates: a ceiling by the mean rate of a rank would let fixed visit slow channels more often than others may.
    recrawl_play replay "fixed iir icr greedy" "400 1400" "--steps $((recrawl_steps / 3)) --find-ranks --changes $CHANGES"
    for a in 400 1400; do
        for s in fixed iir icr greedy; do
            figure "measured_replay_${a}_${s}_freshness" "$(recrawl_mean replay "$s-$a" .freshness_weighted)" "weighted; seeds $(recrawl_range replay "$s-$a" .freshness_weighted)"
        done
    done
fi

# ---- the size of the paper, one core ----
if [ ! "$quick" ]; then
    for s in fixed greedy; do
        "$orb" sim recrawl --strategy $s --agents 2800 --json >"$tmp/recrawl/out" 2>"$tmp/recrawl/err"
        figure "recrawl_${s}_time" "$(sed -n 's/.*orb sim: \([0-9.]*\) s.*/\1/p' "$tmp/recrawl/err" | tail -n 1)" "s, 90,000 steps, 17,777 channels, 2,800 agents" "<=" 60
    done
    # A coordinator, agents and sites that change, in time that runs faster; the simulation is the same plan over the same changes.
    BUILD=$build sh "$top/tests/scenario/recrawl.sh" >"$tmp/recrawl/out" 2>"$tmp/recrawl/err"
    live=$(sed -n 's/^# fresh by the ledger \([0-9.]*\),.*/\1/p' "$tmp/recrawl/out" | tail -n 1)
    played=$(sed -n 's/^# fresh by .* simulation \([0-9.]*\);.*/\1/p' "$tmp/recrawl/out" | tail -n 1)
    figure recrawl_live_freshness "${live:-0}" "of copies, by the sites' ledger"
    figure recrawl_live_over_simulation "$(calc "${live:-0} / ${played:-1}" 3)" "of what the simulation says" ">=" 0.95
    figure recrawl_live_over_simulation_most "$(calc "${live:-0} / ${played:-1}" 3)" "the same" "<=" 1.05
    # The curve over encouragements, of a seed that is not reported on.
    for a in 1400 5600; do
        for s in iir icr; do
            for e in 0.5 0.6 0.62 0.65 0.7 0.8 0.9 0.95; do
                "$orb" sim recrawl --strategy $s --agents $a --seed 11 --encouragement $e --json >"$tmp/recrawl/out" 2>/dev/null
                figure "recrawl_sweep_${a}_${s}_$e" "$(jq .update_quality_weighted "$tmp/recrawl/out")" "quality, weighted; success $(jq .success_rate "$tmp/recrawl/out"), queued $(jq .queued_mean "$tmp/recrawl/out"), rank 4 by rank 0 $(jq '.intervals[4] / .intervals[0] * 100 | round / 100' "$tmp/recrawl/out")"
            done
        done
    done
fi
rm -rf "$tmp/recrawl"
