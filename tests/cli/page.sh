#!/bin/sh
# orb links and orb text.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/page.html" <<'END'
<!doctype html><html lang="de"><head><meta charset=iso-8859-1><title> Ein
 Titel </title><base href="/base/"><link rel=canonical href="https://h/c"><meta name=robots content="noindex">
<script>var x = "<a href=not>";</script></head><body><h1>Kopf</h1><p>Ein <b>Absatz</b> mit <a href="x?a=1&amp;b=2">einem
Verweis</a>.</p><p>Noch einer: <a rel="nofollow ugc" href="//other.example/">fort</a> <a href="mailto:a@h">Post</a></p></body></html>
END
gives links 0 'https://h/base/x?a=1&b=2
https://other.example/' links --base https://h/dir/page "$tmp/page.html"
run links --json --all --base https://h/dir/page "$tmp/page.html"
if [ "$(jq -s -c 'map([.text, .kind, .rel])' "$out")" = '[["einem Verweis","a",[]],["fort","a",["nofollow","ugc"]],["Post","a",[]]]' ]; then
    ok links_json
else
    not_ok links_json "$(cat "$out")"
fi
complains links_need_a_base 2 'no --base' links "$tmp/page.html"
complains bad_base 3 'not a URL' links --base nothing "$tmp/page.html"
complains no_file 4 'No such file' text "$tmp/nothing"
complains folder_is_no_file 4 'Is a directory' text "$tmp"
gives text 0 'Kopf
Ein Absatz mit einem Verweis.
Noch einer: fort Post' text "$tmp/page.html"
run text --json "$tmp/page.html"
holds text_json '.title == "Ein Titel" and .lang == "de" and .canonical == "https://h/c" and .robots == ["noindex"]'
holds text_json_headings '.headings == [{level:1,text:"Kopf"}] and (.digest | test("^[0-9a-f]{16}$"))'
holds text_json_charset '.charset == "windows-1252" and .charset_from == "meta"'
timeout 20 "$orb" text - <"$tmp/page.html" >"$tmp/piped"
run text "$tmp/page.html"
if cmp -s "$out" "$tmp/piped"; then ok standard_input; else not_ok standard_input "differs"; fi
printf '<p>a\033[31mb' >"$tmp/evil.html"
gives escapes_controls 0 'a\x1b[31mb' text "$tmp/evil.html"
# Queries are in the encoding of their page.
printf '<meta charset=windows-1252><a href="/\351?q=\351">x</a>' >"$tmp/latin.html"
gives query_in_the_encoding_of_its_page 0 'http://a.example/%C3%A9?q=%E9' links "$tmp/latin.html" --base http://a.example/
exit $failed
