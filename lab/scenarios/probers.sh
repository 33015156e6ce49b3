#!/bin/sh
# Is the agent with the shortest probe the one that downloads fastest? A step of probers.scenario, in the folder of its run.
#
#   probers.sh AT-ONCE KINDS...
#
# Every agent's place probes every site, by each kind, and downloads its first page, and its first three. Places begin at different sites, so that a
# site is not asked by all of them at once. Links have 1, 2, 4 or 8 MB a second, and servers take 5 to 155 ms: a download is more than a round trip.
set -eu

at_once=$1
shift
agents=$(orb-lab show places lab | awk -F'\t' '$1 == $2 && $1 != "hq" && $1 != "dns" { print $1 }')
count=$(echo "$agents" | wc -l)
orb-lab show seeds lab >sites
sites=$(wc -l <sites)
mkdir -p probes

n=0
for agent in $agents; do
    orb-lab tell bandwidth "$agent" "$((1 << (n % 4)))M" >/dev/null
    awk -v first="$((n * sites / count))" '
        { site[NR - 1] = $0 }
        END { for (i = 0; i < NR; i++) print site[(first + i) % NR] }' sites >"probes/$agent.part.0"
    n=$((n + 1))
done
awk -F/ '{ print $3, 5 + (NR * 37) % 151 }' sites | while read -r host ms; do orb-lab tell --serve slow "$host" "$ms" >/dev/null; done

for kind in "$@"; do
    for agent in $agents; do
        # shellcheck disable=SC2046 # words
        orb-lab in "$agent" orb probe --kind "$kind" --samples 3 --gap 20 --at-once "$at_once" --resolver 198.18.0.53 --contact lab@example.org \
            $(cat "probes/$agent.part.0") >"probes/$agent.$kind.0" 2>"probes/$agent.err.$kind" &
    done
    wait
done
n=0
for agent in $agents; do
    orb-lab in "$agent" orb-lab get --pages 3 --jobs 24 --gap 20 --first "$((n * sites / count))" lab >"probes/$agent.get.0" 2>"probes/$agent.err.get" &
    n=$((n + 1))
done
wait

# A HEAD request is over after two round trips and what the server takes: that is what the paper's probe by HEAD measures.
awk -v kinds="$*" '
    FNR == 1 { n = split(FILENAME, path, "/"); split(path[n], part, "."); agent = part[1]; kind = part[2] }
    kind == "part" || kind == "err" { next }
    kind == "get" { one[agent, $1] = $3; all[agent, $1] = $4; sites[$1]; agents[agent]; next }
    {
        split($1, url, "/"); ms = server = -1
        for (i = 3; i <= NF; i++) { if ($i == "min") ms = $(i + 1); if ($i == "server") server = $(i + 1) }
        if (ms >= 0) probe[kind, agent, url[3]] = kind == "head" ? 2 * ms + server : ms
    }
    # Of those that were had from everywhere: how often the least of one is the least of the other, and what it costs where it is not.
    function judge(kind, ms, name,    s, a, best, fast, is_whole, n, same, near, over) {
        n = same = near = over = 0
        for (s in sites) {
            best = fast = ""; is_whole = 1
            for (a in agents) {
                if (!((kind, a, s) in probe) || !((a, s) in ms)) { is_whole = 0; continue }
                if (best == "" || probe[kind, a, s] < probe[kind, best, s]) best = a
                if (fast == "" || ms[a, s] < ms[fast, s]) fast = a
            }
            if (!is_whole) continue
            n++; same += best == fast; near += ms[best, s] <= 1.05 * ms[fast, s]; over += ms[best, s] / ms[fast, s]
        }
        if (!n) return
        printf "figure probers_%s%s_pct %.2f\n", kind, name, 100 * same / n
        printf "figure probers_%s%s_near_pct %.2f\n", kind, name, 100 * near / n
        printf "figure probers_%s%s_over %.4f\n", kind, name, over / n
        if (name == "") printf "figure probers_%s_sites %d\n", kind, n
    }
    END { n = split(kinds, list, " "); for (k = 1; k <= n; k++) { judge(list[k], one, ""); judge(list[k], all, "_three") } }' probes/*
