#!/bin/sh
# Steps of calibration.scenario, in the folder of its run.
#
#   calibration.sh change            a third of the sites get farther from the agent that has them: changed.tsv
#   calibration.sh look NAME TABLE   figures NAME_...: how near sites are by the table, how many have moved since "before"
#   calibration.sh moved SECONDS     looks for their pages again and again until the networks that got farther have moved
set -eu

networks() { orb network list --data fleet --json >"$1.new" && mv "$1.new" "$1.json"; }
hosts() { jq -r '.networks[] | .agent as $a | .state as $s | .network as $n | .names[] | [., $a, $s, $n] | @tsv' "$1.json"; }

case $1 in
change)
    networks before
    hosts before >before.owners
    # Three times as far, and 60 ms at least, where another agent is nearer by 20 ms or more then.
    awk -F'\t' -v OFS='\t' '
        part == 1 { owner[$1] = $2; next }
        FNR == 1 { for (i = 2; i <= NF; i++) column[$i] = i; print; next }
        {
            best = column[owner[$1]]; second = 0
            for (i = 2; i <= NF; i++) if (i != best && (!second || $i < $second)) second = i
            far = 3 * $best > $best + 60 ? 3 * $best : $best + 60
            if (FNR % 3 == 0 && best && $second + 20 <= far) { $best = far; print $1 >"affected" }
            print
        }' part=1 before.owners part=2 world/rtt.tsv >changed.tsv
    echo "figure affected $(wc -l <affected)"
    ;;
look)
    networks "$2"
    hosts "$2" >"$2.owners"
    awk -F'\t' -v name="$2" '
        part == 1 { was[$1] = $2; next }
        part == 2 { now[$1] = $2; next }
        FNR == 1 { for (i = 2; i <= NF; i++) column[$i] = i; next }
        ($1 in now) && (now[$1] in column) {
            best = $2
            for (i = 3; i <= NF; i++) if ($i < best) best = $i
            sum += $(column[now[$1]]); least += best; moved += now[$1] != was[$1]
        }
        END { printf "figure %s_rtt_over_optimum %.4f\nfigure %s_moved %d\n", name, sum / least, name, moved }' part=1 before.owners part=2 "$2.owners" part=3 "$3"
    # Measurements by others than the owners, before and after: those of owners cost nothing, but for the first of a new one.
    jq -n -r --slurpfile a before.json --slurpfile b "$2.json" '
        ([$a[0].networks[] | {(.network): .agent}] | add) as $was |
        ([$a[0].networks[] | .network as $n | .probes[] | {("\($n) \(.agent)"): .ms}] | add) as $old |
        [$b[0].networks[] | .network as $n | .agent as $g | .probes[] | select($old["\($n) \(.agent)"] != .ms) |
            select(.agent != $was[$n] and (.agent != $g or $g != $was[$n]))] | length' |
        awk -v name="$2" -v sites="$(wc -l <before.owners)" '{ printf "figure %s_probes %.3f\n", name, $1 / sites }'
    ;;
moved)
    have_moved() {
        networks now && hosts now >now.owners &&
            awk -F'\t' 'part == 1 { was[$1] = $2; next }
                part == 2 { now[$1] = $2; state[$1] = $3; next }
                was[$1] == now[$1] || state[$1] != "owned" { left++ }
                END { exit left > 0 }' part=1 before.owners part=2 now.owners part=3 affected
    }
    start=$(date +%s)
    n=0
    until have_moved; do
        [ $(($(date +%s) - start)) -lt "$2" ] || break
        [ $((n % 4)) -ne 0 ] || orb channel recheck all --whole --data fleet >/dev/null
        n=$((n + 1))
        sleep 1
    done
    echo "figure moved_s $(($(date +%s) - start))"
    ;;
esac
