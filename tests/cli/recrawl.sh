#!/bin/sh
# Recrawling that is played.
. "$(dirname "$0")/lib.sh"

small="--agents 70 --channels 900 --steps 8640"
complains steps_are_needed 2 'there is nothing to play' sim recrawl --steps 0
complains strategy_of_the_other_verb 2 'is one of orb sim delegate' sim recrawl --strategy learned
complains bad_encouragement 2 'is not a number from 0.01' sim recrawl --encouragement much
complains bad_ceiling 2 'is not a number from 0.01' sim recrawl --ceiling 0
complains swing_needs_time 2 'less than two days' sim recrawl --steps 5000 --swing 3000
complains no_such_changes 3 'no such file' sim recrawl --changes "$tmp/nothing"
# shellcheck disable=SC2086
run sim recrawl $small --json
cp "$out" "$tmp/all"
if [ "$(jq -r .strategy "$tmp/all" | tr '\n' ' ')" = "fixed iir icr greedy " ]; then ok all_four_in_order; else not_ok all_four_in_order "$(head -c 200 "$out")"; fi
# shellcheck disable=SC2086
run sim recrawl $small --strategy greedy --json
holds every_field_is_there '[.strategy, .tasks, .updates, .success_rate, .queued_mean, .throughput, .update_quality, .update_quality_weighted, .freshness, .freshness_weighted, .intervals, .tasks_by_rank, .moves, .load_variation] | all(. != null)'
holds ranks_are_five '(.intervals | length) == 5 and (.tasks_by_rank | add) == .tasks and (.updates_by_rank | add) == .updates'
holds shares_are_shares '.success_rate > 0 and .success_rate <= 1 and .freshness > 0 and .freshness_weighted < 1 and .optimum_weighted < 1'
holds ceiling_in_the_long_run '.visits_a_change_most <= 2.1'
if jq -es --slurpfile one "$out" '(map(select(.strategy == "greedy")) | .[0]) == $one[0]' "$tmp/all" >/dev/null; then ok same_seed_same_run; else not_ok same_seed_same_run "$(head -c 200 "$out")"; fi
if jq -es '(map({(.strategy): .freshness_weighted}) | add) | .greedy > .fixed and .greedy > .iir and .greedy > .icr' "$tmp/all" >/dev/null; then ok greedy_is_freshest; else not_ok greedy_is_freshest "$(jq -c '[.strategy, .freshness_weighted]' "$tmp/all")"; fi
if jq -es '(map({(.strategy): .}) | add) | .greedy.queued_mean < 1 and .fixed.queued_mean > 100' "$tmp/all" >/dev/null; then ok greedy_queues_nothing; else not_ok greedy_queues_nothing "$(jq -c '[.strategy, .queued_mean]' "$tmp/all")"; fi
# shellcheck disable=SC2086
run sim recrawl $small --strategy iir --seed 2 --swing 3600 --json
holds swing_has_phases '(.phases | length) == 3 and .phases[0].threads > 1.5 * .phases[1].threads and .phases[2].threads > 1.5 * .phases[0].threads and .optimum_weighted == null'
# shellcheck disable=SC2086
run sim recrawl $small
has text_for_people 'freshness, weighted' "$out"
# shellcheck disable=SC2086
run sim recrawl $small --find-ranks --strategy fixed --json
holds ranks_are_found '.tasks > 0 and .updates > 0'

# ---- a history ----
{
    echo "# path<TAB>events"
    for f in a/one a/two b/one c/one; do
        printf '%s\t1000000000A' "$f"
        i=0
        while [ $i -lt 60 ]; do
            i=$((i + 1))
            printf ' %dM' $((1000000000 + i * (7000 + $(printf %s "$f" | wc -c) * 100)))
        done
        printf ' 1000800000MB\n'
    done
} >"$tmp/changes.tsv"
# shellcheck disable=SC2086
run sim recrawl $small --strategy greedy --changes "$tmp/changes.tsv" --json
holds histories_are_replayed '.updates > 0 and .freshness_weighted > 0 and .optimum_weighted == null'
printf 'a\tsoon\n' >"$tmp/bad.tsv"
complains bad_history 3 'is not a time with A, M or D' sim recrawl --changes "$tmp/bad.tsv"

# ---- a world's round trips ----
run world make --agents 6 --sites 40 --seed 3 -o "$tmp/w"
complains strategy_of_recrawl 2 'is one of orb sim recrawl' sim delegate --world "$tmp/w" --strategy greedy
# shellcheck disable=SC2086
run sim recrawl $small --strategy fixed --world "$tmp/w" --json
holds worlds_are_played '.updates > 0'
run sim report "$tmp/w" --sites 30 --steps 1440 --channels 200 -o "$tmp/page.html"
has report_has_the_tables 'Paper 003, tables 1 and 3' "$tmp/page.html"
has report_has_the_figures 'Paper 003, figure 5' "$tmp/page.html"
exit $failed
