# shellcheck shell=bash disable=SC2154 # figure, calc, build, tmp, top, quick, client are those of bench/run
# alike.sh - near-duplicates: how well they are found, and what that costs. Sourced by bench/run.
alike=$build/bench/bench_alike
of_alike() { awk -v n="$2" '$1 == "again" { exit } $1 == n { print $2; exit }' "$1"; } # FILE NAME: of the first run in it
again_alike() { awk -v n="$2" 'over && $1 == n { print $2; exit } $1 == "again" { over = 1 }' "$1"; }

$client "$alike" revisions "$top/tests/data/neardup/php-manual-150-pages-4-revisions.jsonl.zst" >"$tmp/alike.out"
figure alike_distance "$(of_alike "$tmp/alike.out" distance)" bits
figure alike_precision "$(calc "$(of_alike "$tmp/alike.out" rest_precision)" 3)" share ">=" 0.9
figure alike_recall "$(calc "$(of_alike "$tmp/alike.out" rest_recall_near)" 3)" share ">=" 0.9
figure alike_precision_all_pages "$(calc "$(of_alike "$tmp/alike.out" all_pages_precision)" 3)" share ">=" 0.9
figure alike_recall_all_pages "$(calc "$(of_alike "$tmp/alike.out" all_pages_recall_near)" 3)" share ">=" 0.9
figure alike_recall_all_revisions "$(calc "$(of_alike "$tmp/alike.out" all_pages_recall_all)" 3)" share
figure alike_fingerprint "$(calc "$(of_alike "$tmp/alike.out" fingerprint)" 1)" us/page

sizes="10000 100000 1000000"
[ "$quick" ] && sizes="10000 100000"
for n in $sizes; do
    rm -rf "$tmp/alike"
    mkdir "$tmp/alike"
    $client "$alike" grow "$tmp/alike" "$n" >"$tmp/alike.out"
    figure "alike_${n}_first" "$(calc "$(of_alike "$tmp/alike.out" seconds)" 2)" s
    figure "alike_${n}_again" "$(calc "$(again_alike "$tmp/alike.out" seconds)" 2)" s
    figure "alike_${n}_compared" "$(of_alike "$tmp/alike.out" compared)" pairs
    figure "alike_${n}_memory" "$(calc "$(of_alike "$tmp/alike.out" memory)" 1)" MiB "<=" 64
done
rm -rf "$tmp/alike"
