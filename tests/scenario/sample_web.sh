#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# The sample web and the walk are themselves tools of the tests: here they are tested, with curl and a few files.
. "$(dirname "$0")/lib.sh"
serve_sample --big 1000 --big-hosts 3 --part sites

ask() { # HOST TARGET CURL-OPTION...: prints the status; body and head are kept
    host=$1 target=$2
    shift 2
    curl -s --max-time 10 --path-as-is -D "$tmp/head" -o "$tmp/body" -w '%{http_code}' -H "Host: $host" "$@" "http://127.0.0.1:$port$target"
}
answers() { # NAME STATUS HOST TARGET CURL-OPTION...
    name=$1 want=$2
    shift 2
    got=$(ask "$@")
    check "sample_$name" "status $got, not $want" [ "$got" = "$want" ]
}
answers front_page 200 harbour.example /
answers inner_page 200 harbour.example /boats/goose/history.html
answers robots 200 harbour.example /robots.txt
answers no_robots 404 museum.example /robots.txt
answers robots_down 503 closed.example /robots.txt
answers redirect 301 museum.example /old/1
answers loop 302 museum.example /round/a
answers gone 410 garden.example /felled.html
answers error 500 garden.example /wilted.html
answers unknown_page 404 garden.example /nothing
answers unknown_host 404 nowhere.example /
answers busy_first 429 busy.example /rush.html
answers busy_second 429 busy.example /rush.html
answers busy_at_last 200 busy.example /rush.html
answers dropped 000 flaky.example /once.html
answers dropped_once 200 flaky.example /once.html
answers maze 200 maze.example /maze/deeper/deeper/
answers calendar 200 maze.example '/calendar?month=77'
answers session_id 200 orchard.example '/shop/view?id=3&PHPSESSID=12'
answers big_page 200 big1.example /p/1.html
answers big_page_of_another_host 404 big1.example /p/2.html
answers big_page_past_the_end 404 big1.example /p/1000.html

answers unconditional 200 harbour.example /boats/swift/
etag=$(sed -n 's/^[Ee][Tt]ag: //p' "$tmp/head" | tr -d '\r')
date=$(sed -n 's/^Last-[Mm]odified: //p' "$tmp/head" | tr -d '\r')
answers same_etag 304 harbour.example /boats/swift/ -H "If-None-Match: $etag"
answers same_date 304 harbour.example /boats/swift/ -H "If-Modified-Since: $date"
control '/__bump?host=harbour.example&path=/boats/swift/' >/dev/null
answers changed_etag 200 harbour.example /boats/swift/ -H "If-None-Match: $etag"
answers changed_date 200 harbour.example /boats/swift/ -H "If-Modified-Since: $date"
check sample_revision_shown "no revision in the page" grep -q 'Revision 1' "$tmp/body"

ask garden.example /packed.html --compressed >/dev/null
check sample_gzip "cannot be decoded" grep -q '</html>' "$tmp/body"
ask garden.example /latin.html >/dev/null
check sample_latin1 "not ISO-8859-1" sh -c 'iconv -f latin1 -t utf-8 "$1" | grep -q "é"' - "$tmp/body"
ask museum.example /moved >/dev/null
check sample_redirect_off_site "Location is wrong" grep -qi "^location: http://garden.example:$port/" "$tmp/head"

# Every expected page answers 200, every refused one is named in the site's robots.txt.
bad=$(awk -F'\t' '$1 == "page" || $1 == "document" { print $2 }' "$tmp/expected" | while read -r url; do
    rest=${url#http://} host=${rest%%:*} path=/${rest#*/}
    got=$(ask "$host" "$path")
    [ "$got" = 200 ] || echo "$url=$got"
done)
check "sample_expected_pages_answer ($(grep -c '^page' "$tmp/expected") pages)" "$bad" [ -z "$bad" ]

control /__clear >/dev/null
ask harbour.example / >/dev/null
line=$(control /__ledger | cut -f 2-)
check sample_ledger "ledger says: $line" [ "$line" = "200	harbour.example	/" ]
ask big0.example /p/0.html >/dev/null && cp "$tmp/body" "$tmp/one"
stop_sample
serve_sample --big 1000 --big-hosts 3 --port "$port"
ask big0.example /p/0.html >/dev/null
check sample_same_seed_same_bytes "pages differ" cmp -s "$tmp/one" "$tmp/body"
stop_sample

# The walk: links of every kind, resolved and unresolved, over a small folder.
walk=$(find_program walk tests/oracle) || exit 4
mkdir -p "$tmp/w/sub/empty" "$tmp/w/a b"
cat >"$tmp/w/index.html" <<'EOF'
<a href="sub">folder</a><a href="./sub/../one.html#x">one</a><a href=" two.html&#10;">two</a><a href="//other/x">off</a>
<a href="mailto:x">m</a><iframe src="three.html"></iframe><link rel="NEXT" href="four.html"><link rel="stylesheet" href="no.css">
<a href="a%20b/caf%c3%A9.html">cafe</a><a href="gone.html">gone</a><a href="sub/empty/">no index</a><a href="one.html?q=1">query</a>
<!-- <a href="comment.html"> --><script>"<a href='script.html'>"</script><area href="doc.pdf"><a href="stop.html">stop</a>
EOF
echo '<meta http-equiv=refresh content="0; URL=&quot;five.html&quot;"><base href="/sub/"><a href="deep.html">' >"$tmp/w/one.html"
echo '<meta name=robots content="noindex,nofollow"><a href="hidden.html">' >"$tmp/w/stop.html"
for f in two three four no.css comment script sub/index sub/deep sub/five hidden five; do echo x >"$tmp/w/$f.html"; done
echo x >"$tmp/w/doc.pdf"
echo x >"$tmp/w/a b/café.html"
cat >"$tmp/want" <<'EOF'
html	http://h/a%20b/caf%C3%A9.html
other	http://h/doc.pdf
html	http://h/four.html
html	http://h/index.html
html	http://h/one.html
html	http://h/one.html?q=1
html	http://h/stop.html
redirect	http://h/sub
html	http://h/sub/
html	http://h/sub/deep.html
html	http://h/sub/five.html
html	http://h/three.html
html	http://h/two.html
EOF
"$walk" "$tmp/w" http://h index.html | cut -f 1,2 >"$tmp/got"
check oracle_walk_small_folder "$(diff "$tmp/want" "$tmp/got" | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
exit $failed
