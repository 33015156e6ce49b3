#!/bin/sh
# orb sitemap, and orb crawl with sitemaps and feeds.
. "$(dirname "$0")/lib.sh"

# ---- one file ----

cat >"$tmp/map.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>https://h.example/a?x=1&amp;y=2</loc><lastmod>2024-05-06</lastmod>
<xhtml:link rel="alternate" hreflang="de" href="https://h.example/de/a"/></url>
<url><loc>/b</loc></url></urlset>
END
gives sitemap 0 'page https://h.example/a?x=1&y=2 2024-05-06T00:00:00Z
alternate https://h.example/de/a -
page https://h.example/b -' sitemap --base https://h.example/ "$tmp/map.xml"
run sitemap --json "$tmp/map.xml"
if [ "$(jq -s -c 'map([.kind, .url, .changed, .list])' "$out")" = '[["page","https://h.example/a?x=1&y=2","2024-05-06T00:00:00Z","urlset"],["alternate","https://h.example/de/a",null,"urlset"],["page","/b",null,"urlset"]]' ]; then
    ok sitemap_json
else
    not_ok sitemap_json "$(cat "$out")"
fi
gzip -c "$tmp/map.xml" >"$tmp/map.xml.gz"
run sitemap "$tmp/map.xml"
mv "$out" "$tmp/plain"
run sitemap "$tmp/map.xml.gz"
if cmp -s "$out" "$tmp/plain"; then ok sitemap_gzip; else not_ok sitemap_gzip "differs"; fi
timeout 20 "$orb" sitemap - <"$tmp/map.xml" >"$tmp/piped"
if cmp -s "$tmp/piped" "$tmp/plain"; then ok sitemap_standard_input; else not_ok sitemap_standard_input "differs"; fi
printf '<sitemapindex><sitemap><loc>http://h/1.xml</loc></sitemap></sitemapindex>' >"$tmp/index.xml"
gives sitemap_index 0 'list http://h/1.xml -' sitemap "$tmp/index.xml"
printf 'http://h/1\nhttp://h/2\n' >"$tmp/list.txt"
gives sitemap_text 0 'page http://h/1 -
page http://h/2 -' sitemap "$tmp/list.txt"
printf '<urlset><url><loc>http://h/\033[31m</loc></url></urlset>' >"$tmp/evil.xml"
gives sitemap_escapes_controls 0 'page http://h/%1B[31m -' sitemap "$tmp/evil.xml"
printf '<html><p>page' >"$tmp/page.html"
complains sitemap_says_no 1 'neither a sitemap nor a feed' sitemap "$tmp/page.html"
complains sitemap_bad_base 3 'not a URL' sitemap --base nothing "$tmp/map.xml"
head -c 4000000 /dev/zero | gzip -c >"$tmp/bomb.gz"
complains sitemap_bomb 3 'grows more than 200 times' sitemap "$tmp/bomb.gz"
awk 'BEGIN { print "<urlset>"; for (i = 0; i < 2501; i++) { printf "<url><loc>http://h/%d</loc>", i
    for (k = 0; k < 8; k++) printf "<link rel=\"alternate\" href=\"http://h/%d/%d\"/>", k, i; print "</url>" } }' >"$tmp/alternates.xml"
complains sitemap_names_the_ceiling 0 'more than 20000 pages in other languages: the rest is left out' sitemap "$tmp/alternates.xml"
awk 'BEGIN { for (i = 0; i < 50001; i++) print "http://h/" i }' >"$tmp/long.txt"
complains sitemap_names_that_of_pages 0 'more than 50000 entries: the rest is left out' sitemap "$tmp/long.txt"

# ---- crawls ----

serve_sample --part calm
hosts="--hosts $tmp/hosts --allow-private --delay 0 --quiet"
site=http://observatory.example:$port
run crawl --data "$tmp/all" $hosts --json "$site/"
holds crawl_finds_lists '.lists == 3 and .end == "complete"'
run export --data "$tmp/all"
has crawl_finds_what_only_a_sitemap_names "$site/arkhiv/kometa-1811.html" "$out"
if grep -q 'sitemap' "$out"; then not_ok export_leaves_lists_out "$(grep sitemap "$out")"; else ok export_leaves_lists_out; fi
run export --data "$tmp/all" --all
if grep 'sitemap-archive.xml.gz' "$out" | jq -e '.robots == ["noindex", "list"]' >/dev/null; then ok export_all_has_them; else not_ok export_all_has_them "$(grep sitemap "$out")"; fi
run export --data "$tmp/all" --states
if grep 'kometa-1811' "$out" | jq -e '.state.listed | test("^202[0-9]-")' >/dev/null; then ok export_has_the_date; else not_ok export_has_the_date "$(grep kometa "$out")"; fi
run explain --data "$tmp/all" "$site/arkhiv/kometa-1811.html"
has explain_has_the_date "listed change" "$out"
run explain --data "$tmp/all" "$site/sitemap.xml"
has explain_names_a_list "a sitemap or a feed" "$out"
run status --data "$tmp/all" --json
holds status_counts_lists '.lists == 3'

run crawl --data "$tmp/none" $hosts --json --no-sitemaps "$site/"
holds crawl_without '.lists == 0 and .end == "complete"'
run export --data "$tmp/none"
if grep -q kometa-1811 "$out"; then not_ok crawl_without_finds_less "$(grep kometa-1811 "$out")"; else ok crawl_without_finds_less; fi

run crawl --data "$tmp/one" $hosts --json --depth 1 --sitemap "$site/sitemap-archive.xml.gz"
holds crawl_from_a_sitemap_alone '.pages >= 1 and .lists >= 1 and .end == "complete"'
run export --data "$tmp/one"
has crawl_from_a_sitemap_finds "$site/arkhiv/kometa-1811.html" "$out"
run crawl --data "$tmp/two" $hosts --json --no-index --scope prefix --sitemap "$site/sitemap-archive.xml.gz" "$site/arkhiv/"
holds crawl_with_a_sitemap_besides '.pages == 1'
complains crawl_of_a_sitemap_too_shallow 1 'nothing that it lists is followed: deeper than --depth' crawl --data "$tmp/shallow" $hosts --depth 0 --sitemap "$site/sitemap-archive.xml.gz"
run crawl --data "$tmp/left" $hosts --json --depth 0 --sitemap "$site/sitemap-archive.xml.gz" "$site/"
holds crawl_counts_lists_left_out '.lists == 1 and .lists_left_out == 1 and .lists_out_of_scope == 0 and .lists_too_far == 0'
complains crawl_contradiction 2 'contradict each other' crawl --no-sitemaps --sitemap "$site/sitemap.xml" "$site/"
complains crawl_bad_sitemap 3 'not a URL' crawl --sitemap 'ht tp://x' "$site/"
exit $failed
