#!/bin/sh
# shellcheck disable=SC2154,SC2046 # variables of lib.sh and nginx.sh; lists are meant to be split
# Crawls documentation sites (all six, or those named) and compares the pages with those that the walk of their files finds.
#
# Prints "ok NAME ..." or "not ok NAME ..." a site; the differences, one URL a line with the page that links it, are in
# build/oracle/PACKAGE.diff. Needs make bench-data.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scenario/lib.sh"
. "$here/nginx.sh"
walk=$(find_program walk tests/oracle) || exit 4
sites=${BENCH_DATA:-$top/bench-data}/sites
if [ ! -d "$sites" ]; then
    echo "not ok oracle no bench-data folder: run make bench-data"
    exit 1
fi
if [ $# -eq 0 ]; then
    set -- $(cd "$sites" && ls ./*.starts | sed 's,^./,,; s/\.starts$//')
fi
out=$build/oracle
mkdir -p "$out" "$tmp/web"
nginx_start "$tmp/web" "$sites" || exit 4
trap 'nginx_stop; cleanup' EXIT

for site in "$@"; do
    base=http://$site.example:$web
    "$walk" "$sites/$site" "$base" $(cat "$sites/$site.starts") >"$tmp/walk"
    nginx_starts "$site" "$base" >"$tmp/seeds"
    rm -rf "$tmp/data"
    "$orb" crawl --data "$tmp/data" --hosts "$tmp/web/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json \
        --max-time 300 >"$tmp/json" 2>"$tmp/err"
    code=$?
    if [ $code -ne 0 ]; then
        not_ok "oracle_$site" "crawl ended with code $code: $(tail -n 1 "$tmp/err")"
        continue
    fi
    pages_of "$tmp/data" | "$walk" --canonical "$base" | LC_ALL=C sort -u >"$tmp/got"
    awk -F'\t' '$1 == "html" || $1 == "text" { print $2 }' "$tmp/walk" | LC_ALL=C sort >"$tmp/want"
    # Other types are answered 200 as well; whether a crawler keeps them is not the question here.
    awk -F'\t' '$1 == "other" { print $2 }' "$tmp/walk" | LC_ALL=C sort >"$tmp/may"
    LC_ALL=C comm -23 "$tmp/want" "$tmp/got" >"$tmp/missing"
    LC_ALL=C comm -13 "$tmp/want" "$tmp/got" | LC_ALL=C comm -23 - "$tmp/may" >"$tmp/extra"
    awk -F'\t' 'NR == FNR { from[$2] = $3; next } { print "missing\t" $0 "\t" from[$0] }' "$tmp/walk" "$tmp/missing" >"$out/$site.diff"
    sed 's/^/extra	/' "$tmp/extra" >>"$out/$site.diff"
    want=$(wc -l <"$tmp/want") missing=$(wc -l <"$tmp/missing") extra=$(wc -l <"$tmp/extra")
    share=$(awk -v w="$want" -v m="$missing" 'BEGIN { printf "%.2f", w ? 100 * (w - m) / w : 0 }')
    line="$share % of $want pages, $missing missing, $extra more than the walk found"
    if [ "$missing" -eq 0 ] && [ "$extra" -eq 0 ]; then
        ok "oracle_$site $line"
    else
        not_ok "oracle_$site" "$line: $(head -n 1 "$out/$site.diff" | cut -f 1,2) (build/oracle/$site.diff)"
    fi
done
exit $failed
