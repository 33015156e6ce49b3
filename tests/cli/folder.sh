#!/bin/sh
# status, explain and export of a data folder.
. "$(dirname "$0")/lib.sh"

for c in status export; do complains "${c}_without_folder" 4 'not there' $c; done
complains explain_without_folder 4 'open data folder' explain http://a.example/
serve_sample --part calm
set -- --data "$tmp/d" --hosts "$tmp/hosts" --allow-private --delay 0
run crawl "$@" --quiet --seeds "$tmp/seeds"
if [ "$code" = 0 ]; then ok crawl; else not_ok crawl "code $code: $(cat "$err")"; fi
awk -F'\t' '$1 == "page" || $1 == "document" { print $2 }' "$tmp/expected" | LC_ALL=C sort >"$tmp/want"

run export --data "$tmp/d"
jq -r .url "$out" | LC_ALL=C sort >"$tmp/got"
if cmp -s "$tmp/want" "$tmp/got"; then ok export_lists_all_good_pages; else not_ok export_lists_all_good_pages "$(diff "$tmp/want" "$tmp/got" | head -n 3)"; fi
if [ "$(jq -c keys "$out" | sort -u)" = '["canonical","digest","fetched","fields","lang","near_dup_of","robots","status","title","url"]' ]; then
    ok export_fields
else
    not_ok export_fields "$(jq -c keys "$out" | sort -u)"
fi
if jq -e '(.status | . >= 200 and . < 300) and (.digest | test("^[0-9a-f]{16}$")) and (.fetched | test("^20..-..-..T..:..:..Z$")) and (.robots | type) == "array"' \
    "$out" | grep -q false; then
    not_ok export_values "$(head -n 1 "$out")"
else
    ok export_values
fi
lines=$(wc -l <"$out")
run export --data "$tmp/d" --all
if [ "$(wc -l <"$out")" -gt "$lines" ]; then ok export_all_has_more; else not_ok export_all_has_more "$lines lines"; fi
run export --data "$tmp/d" --format csv
if [ "$(head -n 1 "$out")" = "url,status,fetched,digest,title,lang,canonical,near_dup_of,robots,fields" ]; then ok export_csv; else not_ok export_csv "$(head -n 1 "$out")"; fi
if awk 'NR > 1 && /^[=+@-]/ { exit 1 }' "$out"; then ok export_csv_is_guarded; else not_ok export_csv_is_guarded "a cell begins with a formula"; fi
# Fields of programs.
printf '%s\t' http://shop.example/1 en 1 0 Kettle 'A copper kettle.' price=9.99 'author=Jörg' tag=a 'tag==b,"c"' >"$tmp/lines"
printf 'bell=\033\nhttp://shop.example/2\ten\t1\t0\tPan\tA pan.\n' >>"$tmp/lines"
"$build/tests/browser/make-index" --folder "$tmp/f" <"$tmp/lines"
run export --data "$tmp/f"
if [ "$(jq -c .fields "$out" | tr '\n' ' ')" = '{"price":"9.99","author":"Jörg","tag":["a","=b,\"c\""],"bell":"\u001b"} null ' ]; then
    ok export_has_fields
else
    not_ok export_has_fields "$(jq -c .fields "$out")"
fi
run export --data "$tmp/f" --format csv --all
if sed -n 2p "$out" | grep -q ',new,,,"{""price"":""9.99"",""author"":' && sed -n 3p "$out" | grep -q ',new,,,$'; then
    ok export_csv_has_fields
else
    not_ok export_csv_has_fields "$(sed -n 2,3p "$out")"
fi
printf x >>"$tmp/f/index/manifest"
run export --data "$tmp/f"
if [ "$code" = 0 ] && [ "$(wc -l <"$out")" = 2 ] && grep -q 'fields of pages are left out' "$err"; then
    ok export_without_a_good_index
else
    not_ok export_without_a_good_index "code $code: $(cat "$err")"
fi

run status --data "$tmp/d" --json
id=$(jq -r ".channels[0].id" "$out")
run export --data "$tmp/d" --states --channel "$id"
if [ "$(wc -l <"$out")" = "$lines" ]; then ok export_channel; else not_ok export_channel "$(wc -l <"$out") of $lines lines"; fi
if jq -e ".state.channel == \"$id\" and .state.visits >= 1 and (.state.history | length) == .state.visits and .state.total_us > 0" "$out" | grep -q false; then
    not_ok export_states "$(head -n 1 "$out")"
else
    ok export_states
fi
run export --data "$tmp/d" --channel 0000000000000001
if [ -s "$out" ]; then not_ok export_other_channel "$(head -n 1 "$out")"; else ok export_other_channel; fi
complains export_channel_bad 2 "not a channel id" export --data "$tmp/d" --channel xyz
complains export_states_csv 2 "JSON lines" export --data "$tmp/d" --states --format csv
complains export_contradiction 2 'contradict' export --data "$tmp/d" --format csv --json

run status --data "$tmp/d" --json
holds status_counts ".pages == $lines and .running == false and .pid == null and .disk_bytes > 0"
holds status_channels '.channels | length == 1 and .[0].scope == "site"'
run status --data "$tmp/d"
has status_text 'no crawl runs' "$out"

page=$(grep -m 1 '^page' "$tmp/expected" | cut -f 2)
run explain --data "$tmp/d" --json "$page"
holds explain_page ".url == \"$page\""
run explain --data "$tmp/d" "$page"
if [ "$code" = 0 ] && [ -s "$out" ]; then ok explain_text; else not_ok explain_text "code $code"; fi
refused=$(grep -m 1 '^refused' "$tmp/expected" | cut -f 2)
run explain --data "$tmp/d" "$refused"
has explain_names_the_rule 'isallow' "$out"
run explain --data "$tmp/d" http://never.example/heard/of
if [ -s "$out" ]; then ok explain_unknown; else not_ok explain_unknown "code $code: $(cat "$err")"; fi
# Addresses are told apart as the crawl was told to; the sample has no page with that one.
run crawl --data "$tmp/kept" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet --pages 1 --keep-params "$page?utm_source=x"
run explain --data "$tmp/kept" --json --keep-params "$page?utm_source=x"
holds explain_keeps_params ".url == \"$page?utm_source=x\" and .state == \"gone\""
run explain --data "$tmp/kept" --json "$page?utm_source=x"
holds explain_drops_params ".url == \"$page\" and .state == \"unknown\""
complains explain_not_a_url 3 'not a' explain --data "$tmp/d" 'http://a b/'

mkdir "$tmp/newer" && cp -r "$tmp/d/." "$tmp/newer"
if command -v sqlite3 >/dev/null; then
    sqlite3 "$tmp/newer/orb.db" 'PRAGMA user_version = 999'
    complains newer_folder 4 'newer' export --data "$tmp/newer"
fi
echo nonsense >"$tmp/newer/orb.db"
rm -f "$tmp/newer/orb.db-wal" "$tmp/newer/orb.db-shm"
complains broken_folder 4 'open data folder' export --data "$tmp/newer"
timeout 60 "$orb" export --data "$tmp/d" --all | head -n 1 >"$out"
if [ "$(wc -l <"$out")" = 1 ]; then ok export_into_head; else not_ok export_into_head "no line"; fi
"$orb" export --data "$tmp/d" >/dev/full 2>"$err"
if [ $? = 4 ] && grep -q 'No space left' "$err"; then ok full_output_is_an_error; else not_ok full_output_is_an_error "$(cat "$err")"; fi
exit $failed
