#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A crawl with --warc, killed and gone on with: the files are whole, and have what the server sent and what the crawl says it got.
# Then checked again: unchanged pages are revisits. Read back by warc_list (tests) and by bsdtar, which knows WARC 1.0.
. "$(dirname "$0")/lib.sh"
warc_list=$(find_program warc_list tests/scenario) || exit 4
serve_sample --part calm

crawl() { # DATA WARC OPTION...
    data=$1 warc=$2
    shift 2
    exec "$orb" crawl --data "$data" --warc "$warc" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json \
        --max-time 60 "$@" >"$tmp/json" 2>>"$tmp/err"
}
list() { # FOLDER: sets $tmp/list
    "$warc_list" "$1"/*.warc.* >"$tmp/list" 2>"$tmp/list.err"
}

# ---- killed in the middle, three times ----
kills=0 window=500 # ms
for _ in $(seq 20); do
    (crawl "$tmp/data" "$tmp/warc" --warc-size 200k --contact warc@example.org) &
    pid=$!
    pids="$pids $pid"
    if [ $kills -lt 3 ]; then
        random_below $window
        sleep "0.$(printf %03d $((random + window / 5)))"
        if kill -9 $pid 2>/dev/null; then
            wait $pid 2>/dev/null
            [ $? -eq 137 ] && kills=$((kills + 1)) && continue
        fi
    fi
    wait $pid 2>/dev/null
    code=$?
    [ $kills -eq 0 ] && [ $window -gt 20 ] || break
    window=$((window / 2)) # done before it could be killed: from the beginning, and sooner
    rm -rf "$tmp/data" "$tmp/warc"
done
check warc_crawl_ends "code $code after $kills kills: $(tail -n 1 "$tmp/err")" [ "$code" -eq 0 ]
check warc_was_killed "$kills times" [ $kills -ge 1 ]
check warc_no_file_left_open "$(ls "$tmp/warc")" [ -z "$(find "$tmp/warc" -name '*.open')" ]
check warc_rotated "$(find "$tmp/warc" -name '*.warc.gz' | wc -l) files" [ "$(find "$tmp/warc" -name '*.warc.gz' | wc -l)" -ge 5 ]
list "$tmp/warc"
check warc_files_are_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check warc_info_first "not every file begins with one" \
    [ "$(grep -c '^warcinfo' "$tmp/list")" -eq "$(find "$tmp/warc" -name '*.warc.gz' | wc -l)" ]
check warc_says_whom_to_ask "no operator" sh -c "zcat '$tmp'/warc/*-00000-*.gz | head -n 20 | grep -q '^operator: warc@example.org'"

# Every page of the folder, and every other answer with a status, is in the files; kills may have added a few.
"$orb" export --all --data "$tmp/data" | jq -r 'select(.status > 0) | "\(.url)\t\(.status)"' | LC_ALL=C sort -u >"$tmp/want"
awk -F'\t' '$1 == "response" || $1 == "revisit" { print $2 "\t" $3 }' "$tmp/list" | LC_ALL=C sort -u >"$tmp/got"
missing=$(LC_ALL=C comm -23 "$tmp/want" "$tmp/got" | head -n 3)
check warc_has_every_page "missing: $missing" [ -z "$missing" ]
check warc_has_robots_and_redirects "$(cut -f 3 "$tmp/got" | sort | uniq -c)" \
    [ "$(grep -c '/robots.txt	' "$tmp/got")" -ge 10 -a "$(grep -c '	30[1278]$' "$tmp/got")" -ge 5 ]
answers=$(grep -c '^re[sv]' "$tmp/list")
check warc_has_requests_and_metadata "$answers answers" \
    [ "$(grep -c '^request' "$tmp/list")" -eq "$answers" -a "$(grep -c '^metadata' "$tmp/list")" -eq "$answers" ]

# A revisit refers to a response that is there.
refers() {
    awk -F'\t' '$1 == "response" { has[$2 "\t" $4] = 1 } $1 == "revisit" { want[$6 "\t" $7] = 1 }
        END { for (w in want) if (!(w in has)) print w }' "$tmp/list"
}
check warc_revisits_refer_to_responses "$(refers | head -n 3)" [ -z "$(refers)" ]

# The bodies are the bytes that the server sends, coded as it sends them. Some of the pages change from request to request.
awk -F'\t' '$1 == "response" && $3 == 200 { print $2 "\t" $5 "\t" $10 }' "$tmp/list" | LC_ALL=C sort -u | awk 'NR % 20 == 1' >"$tmp/some"
awk -F'\t' '$1 == "response" && $3 == 200 && $10 == "gzip" { print $2 "\t" $5 "\t" $10 }' "$tmp/list" | LC_ALL=C sort -u >"$tmp/coded"
cat "$tmp/coded" >>"$tmp/some"
same=0 differ=""
while IFS='	' read -r url digest _; do
    host=${url#http://}
    host=${host%%/*}
    sum=$(curl -s --max-time 10 -H "Host: $host" -H "Accept-Encoding: gzip, deflate, br, zstd" "http://127.0.0.1:$port/${url#http://*/}" |
        sha1sum | cut -d' ' -f1)
    if [ "$sum" = "$digest" ]; then same=$((same + 1)); else differ="$differ $url"; fi
done <"$tmp/some"
check warc_has_coded_bodies "none is gzip" [ -s "$tmp/coded" ]
check warc_bodies_are_as_served "$same of $(wc -l <"$tmp/some") equal; others:$differ" \
    [ $same -ge $(($(wc -l <"$tmp/some") - 2)) ]

# Another reader: WARC 1.0 says the same but for the version and the fractions of seconds. It leaves folders out.
for f in "$tmp"/warc/*.warc.gz; do
    zcat "$f" | sed 's/^WARC\/1\.1\r$/WARC\/1.0\r/; s/^\(WARC-Date: .*\)\.[0-9]*Z\r$/\1Z\r/' >"$tmp/one.warc"
    bsdtar -b 8192 -tf "$tmp/one.warc" 2>>"$tmp/tar.err"
done | LC_ALL=C sort >"$tmp/by_tar"
awk -F'\t' '$1 == "response" { sub("^http://[^/]*/", "", $2); if ($2 != "" && $2 !~ /\/$/) print $2 }' "$tmp/list" | LC_ALL=C sort >"$tmp/by_list"
check warc_another_reader_agrees "$(wc -l <"$tmp/by_tar") entries for $(wc -l <"$tmp/by_list"): $(tail -n 1 "$tmp/tar.err" 2>/dev/null)" \
    cmp -s "$tmp/by_tar" "$tmp/by_list"

# ---- again: nothing but revisits, and what changed ----
before=$(wc -l <"$tmp/list")
control '/__bump?host=harbour.example&path=/boats/goose/history.html' >/dev/null
(crawl "$tmp/data" "$tmp/warc")
list "$tmp/warc"
tail -n +$((before + 1)) "$tmp/list" >"$tmp/new"
check warc_again_is_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
not_modified=$(grep -c 'server-not-modified' "$tmp/new")
identical=$(grep -c 'identical-payload-digest' "$tmp/new")
check warc_unchanged_pages_are_revisits "$not_modified by 304, $identical by digest" [ "$not_modified" -ge 200 -a "$identical" -ge 100 ]
check warc_again_refers_to_responses "$(refers | head -n 3)" [ -z "$(refers)" ]
check warc_changed_page_is_a_response "$(grep history.html "$tmp/new" | head -n 2)" \
    grep -q '^response	http://harbour.example:[0-9]*/boats/goose/history.html	200' "$tmp/new"
check warc_304_always_refers "a revisit without" [ "$(awk -F'\t' '$1 == "revisit" && $6 == "-"' "$tmp/list" | wc -l)" -eq 0 ]

# ---- the first crawl is too old: what the second refers to stays ----
cp -r "$tmp/warc" "$tmp/aged"
responses=$(grep -c '^response' "$tmp/list")
second=$(find "$tmp/aged" -name '*.warc.gz' | LC_ALL=C sort | tail -n 1)
find "$tmp/aged" -name '*.warc.gz' ! -path "$second" -exec touch -d '100 days ago' {} +
"$orb" prune --data "$tmp/data" --warc "$tmp/aged" --keep-warc-days 30 --dry-run --json >"$tmp/look"
"$orb" prune --data "$tmp/data" --warc "$tmp/aged" --keep-warc-days 30 --json >"$tmp/json"
list "$tmp/aged"
check warc_aged_is_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check warc_aged_revisits_refer_to_responses "$(refers | head -n 3)" [ -z "$(refers)" ]
check warc_aged_has_less "$(grep -c '^response' "$tmp/list") of $responses responses; $(cat "$tmp/json")" \
    [ "$(jq --argjson n "$responses" '.warc_kept > 300 and .warc_kept < $n and .warc_bytes > 0' "$tmp/json")" = true ]
check warc_aged_dry_run "$(cat "$tmp/look" "$tmp/json")" [ "$(jq -c '[.warc_files, .warc_kept]' "$tmp/look")" = "$(jq -c '[.warc_files, .warc_kept]' "$tmp/json")" ]
"$orb" prune --data "$tmp/data" --warc "$tmp/aged" --keep-warc-days 30 --json >"$tmp/json"
check warc_aged_twice_changes_nothing "$(cat "$tmp/json")" [ "$(jq '.warc_files == 0 and .warc_kept > 300' "$tmp/json")" = true ]
(crawl "$tmp/data" "$tmp/aged")
list "$tmp/aged"
check warc_aged_bodies_are_written_again "$(refers | head -n 3)" [ -z "$(refers)" -a "$(grep -c '^response' "$tmp/list")" -ge "$responses" ]

# ---- a folder that was crawled without: everything comes whole ----
(crawl "$tmp/data" "$tmp/other" --warc-compression zstd)
list "$tmp/other"
check warc_zstd_is_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check warc_late_archive_has_bodies "$(grep -c ^response "$tmp/list") responses" \
    [ "$(awk -F'\t' '$1 == "response" && $3 == 200' "$tmp/list" | wc -l)" -ge 900 -a "$(grep -c server-not-modified "$tmp/list")" -eq 0 ]

# ---- trouble ----
(crawl "$tmp/busy" "$tmp/warc" --max-time 5) &
pid=$!
pids="$pids $pid"
is_open() { [ -n "$(find "$tmp/warc" -name '*.open')" ]; }
await 60 is_open
"$orb" crawl --max-time 5 --data "$tmp/busy2" --warc "$tmp/warc" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private >"$tmp/out" 2>&1
code=$?
wait $pid
check warc_folder_in_use_is_said "code $code: $(tail -n 1 "$tmp/out")" grep -q 'WARC folder.*writes to it.*--warc' "$tmp/out"
ORB_TEST_WRITE_FAULT=300000:ENOSPC timeout -s KILL 50 "$orb" crawl --data "$tmp/full" --warc "$tmp/fullwarc" --hosts "$tmp/hosts" \
    --seeds "$tmp/seeds" --delay 0 --allow-private --no-index --max-time 30 >"$tmp/out" 2>&1
check warc_full_disk_is_said "no word of it: $(tail -n 1 "$tmp/out")" grep -qiE 'space' "$tmp/out"
(crawl "$tmp/full" "$tmp/fullwarc" --no-index)
list "$tmp/fullwarc"
check warc_full_disk_leaves_whole_files "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
"$orb" export --all --data "$tmp/full" | jq -r 'select(.status > 0) | "\(.url)\t\(.status)"' | LC_ALL=C sort -u >"$tmp/want"
awk -F'\t' '$1 == "response" || $1 == "revisit" { print $2 "\t" $3 }' "$tmp/list" | LC_ALL=C sort -u >"$tmp/got"
check warc_full_disk_loses_nothing "missing: $(LC_ALL=C comm -23 "$tmp/want" "$tmp/got" | head -n 3)" \
    [ -z "$(LC_ALL=C comm -23 "$tmp/want" "$tmp/got")" ]
exit $failed
