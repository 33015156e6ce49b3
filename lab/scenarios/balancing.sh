#!/bin/sh
# Steps of balancing.scenario, in the folder of its run.
#
#   balancing.sh capacity PERCENT [untold]    every agent can do so much of all that there is to do; the coordinator is told of it, or not
#   balancing.sh wait SECONDS                 until no agent has more than it can, and nothing is on its way; figure balanced_s
#   balancing.sh look                         figures over_capacity (agents that have more), balance_load_most (per cent), balance_rtt_ms, and the mean round
#                                             trip by the least that keeps to capacities: each time the site that loses least is taken from whoever has too many
set -eu
page_bytes=40000 # what the coordinator takes a page for that nobody has seen yet
pages=5          # channels --expected

networks() { orb network list --data fleet --json | jq -r '.networks[] | .agent as $a | select(.state == "owned") | .names[] | [., $a] | @tsv' >owners; }
# Sites are what loads are made of: each is as much as the others.
loads() {
    networks
    awk -F'\t' -v bytes=$((pages * page_bytes)) -v capacity="$(cat capacity)" '
        FILENAME == "owners" { n[$2]++; owner[$1] = $2; all++; next }
        FNR == 1 { for (i = 2; i <= NF; i++) column[$i] = i; next }
        ($1 in owner) {
            rtt += $(column[owner[$1]]); best = 2
            for (i = 2; i <= NF; i++) { ms[$1, i] = $i; if ($i < $best) best = i }
            at[$1] = best; has[best]++; columns = NF
        }
        END {
            room = int(capacity / bytes + 0.001)
            while (1) {
                gone = ""
                for (s in at) {
                    if (has[at[s]] <= room) continue
                    for (i = 2; i <= columns; i++)
                        if (has[i] < room && (gone == "" || ms[s, i] - ms[s, at[s]] < ms[gone, to] - ms[gone, at[gone]])) { gone = s; to = i }
                }
                if (gone == "") break
                has[at[gone]]--; at[gone] = to; has[to]++
            }
            for (s in at) least += ms[s, at[s]]
            for (a in n) { over += n[a] * bytes > capacity; if (n[a] > most) most = n[a] }
            print over + 0, 100 * most / all, rtt / all, rtt / least
        }' owners world/rtt.tsv
}

case $1 in
capacity)
    sites=$(orb-lab show sites lab | wc -l)
    echo $((sites * pages * page_bytes * $2 / 100)) >capacity
    [ "${3:-}" != untold ] || exit 0
    orb-lab show places lab | awk -F'\t' '$1 == $2 && $1 != "hq" && $1 != "dns" { print $1 }' | while read -r agent; do
        orb agent change "$agent" --bytes-a-day "$(cat capacity)" --data fleet >/dev/null
    done
    ;;
wait)
    start=$(date +%s)
    sites=$(orb-lab show sites lab | wc -l)
    # Those on their way from one to another are nobody's.
    until { [ "$(loads | cut -d' ' -f1)" = 0 ] && [ "$(wc -l <owners)" = "$sites" ]; } || [ $(($(date +%s) - start)) -ge "$2" ]; do sleep 1; done
    echo "figure balanced_s $(($(date +%s) - start))"
    ;;
look)
    loads | awk '{ printf "figure over_capacity %d\nfigure balance_load_most %.1f\nfigure balance_rtt_ms %.1f\nfigure balance_over_best %.4f\n", $1, $2, $3, $4 }'
    ;;
esac
