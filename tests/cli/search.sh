#!/bin/sh
# orb search: what it finds, how it shows it, how it ends.
. "$(dirname "$0")/lib.sh"

complains no_word 2 'something is missing' search --data "$tmp/none"
complains no_folder 4 'run orb crawl first' search --data "$tmp/none" word
if [ ! -e "$tmp/none" ]; then ok makes_no_folder; else not_ok makes_no_folder "there it is"; fi
mkdir "$tmp/empty"
complains no_index 4 "no index in $tmp/empty: run orb crawl first" search --data "$tmp/empty" word
complains bad_limit 2 '--limit' search --data "$tmp/empty" --limit 0 word

serve_sample --part calm
set -- --data "$tmp/d" --hosts "$tmp/hosts" --allow-private --delay 0 --contact me@example.org
run crawl "$@" --quiet "http://harbour.example:$port/" "http://skein.example:$port/"
data="--data $tmp/d"

# NAME CODE FILTER ARG...: exit code, and what the JSON says.
finds() {
    name=$1 want_code=$2 filter=$3
    shift 3
    run search $data --json "$@"
    if [ "$code" = "$want_code" ]; then holds "$name" "$filter"; else not_ok "$name" "exit code $code, want $want_code: $(head -n 1 "$err")"; fi
}

finds words 0 '.total > 0 and .results[0].rank == 1 and (.results[0].url | startswith("http://harbour.example:"))' harbour boats
finds json_fields 0 '.query == "harbour boats" and .offset == 0 and .limit == 10 and .partial == false and .note == null and
    (.results[0] | has("title") and has("snippet") and has("lang") and has("fetched") and has("changed") and has("similar") and has("score"))' \
    harbour boats
finds marks 0 '[.results[] | .title as $t | .title_marks[] | $t[.[0]:.[0]+.[1]] | ascii_downcase] | length > 0 and all(test("^(harbour|boat)"))' \
    harbour boats
finds snippet_marks 0 '[.results[] | .snippet as $t | .snippet_marks[] | $t[.[0]:.[0]+.[1]] | ascii_downcase] | length > 0 and all(test("^(harbour|boat)"))' \
    harbour boats
finds facets 0 '.facets.sites[0].count > 0 and (.facets.langs | length) > 0' harbour
finds scores_fall 0 '[.results[].score] | . == (sort | reverse)' the
finds quoted_argument_is_words 0 '.total > 0' 'boats harbour'
finds phrase 1 '.total == 0 and .results == []' '"boats harbour master pier"'
finds site 0 'all(.results[]; .site | startswith("skein.example"))' the site:skein.example
finds other_site 1 '.total == 0' the site:nowhere.example
finds without 0 '[.results[].url] | all(contains("harbour.example") | not)' the -site:harbour.example
finds pages 0 '.offset == 2 and (.results | length) == 2 and .results[0].rank == 3' the --offset 2 --limit 2
run search $data --json the --limit 4
third=$(jq -r '.results[2].url' "$out")
finds same_order 0 ".results[0].url == \"$third\"" the --offset 2 --limit 1
finds suggestion 1 '.total == 0 and .suggestion == "harbour"' harbuor
finds note 0 '.note | test("no date")' harbour before:yesterday
finds operators 0 '.total > 0' harbour OR skein

complains nothing_to_find 3 'no word to look for' search $data '""'
complains only_without 3 'leave out' search $data -- -boat
long=$(printf '%02100d' 0)
complains too_long 3 'longer than 2048 bytes' search $data "$long"
complains too_deep 2 'first 1000 results' search $data --offset 999 --limit 10 the

# As text.
run search $data harbour boats --limit 1
has text_title ' 1. Port Elm Harbour' "$out"
has text_url "    http://harbour.example:$port/" "$out"
has text_more 'More: --offset 1' "$out"
if ! grep -q "$(printf '\033')" "$out"; then ok no_colours_into_a_pipe; else not_ok no_colours_into_a_pipe "$(head -n 3 "$out")"; fi
run search $data harbuor
has text_suggestion 'Did you mean: harbour' "$out"
if [ "$code" = 1 ]; then ok none_is_1; else not_ok none_is_1 "code $code"; fi
run search $data "$(printf 'zz\033[31mqq')"
if ! grep -q "$(printf '\033')" "$out"; then ok escapes_controls; else not_ok escapes_controls "$(head -n 3 "$out")"; fi

# Fields of programs, and pages known by their words only.
printf '%s\t' http://shop.example/1 en 1 0 Kettle 'A copper kettle.' price=9.99 'author=Jane Doe' a=1 b=2 c=3 d=4 >"$tmp/lines"
printf 'e=5\tbell=\033[31m\nhttp://shop.example/2\ten\t1\t0\tPan\tpan copper copper\tprice=9.99\t=words\n' >>"$tmp/lines"
"$build/tests/browser/make-index" "$tmp/f" <"$tmp/lines"
old=$data
data="--data $tmp/f"
finds field_alone 0 '.total == 2' field:price
finds field_value 0 '.total == 1 and .results[0].fields.author == "Jane Doe" and .results[0].words_only == false' 'field:author="jane doe"'
finds field_other_value 1 '.total == 0' field:price=9.9
finds words_only 0 '.results[0] | .words_only and .snippet == "" and .fields == {"price": "9.99"}' pan
finds no_phrase_of_words 0 '.note | test("apart|some")' 'pan.copper'
run search $data kettle
has text_fields '    price: 9.99 · author: Jane Doe · a: 1 · b: 2 · c: 3 · d: 4 · 2 more' "$out"
if ! grep -q "$(printf '\033')" "$out"; then ok escapes_fields; else not_ok escapes_fields "$(cat "$out")"; fi
run search $data pan
has text_words_only ' · known by its words only' "$out"
data=$old

# On a terminal.
on_terminal() { # COMMAND LINE
    timeout 60 script -qefc "stty cols 60; $1" /dev/null </dev/null | tr -d '\r'
}
esc=$(printf '\033')
on_terminal "$orb search $data harbour boats" >"$tmp/seen"
if grep -q "$esc\[1;31mHarbour$esc" "$tmp/seen"; then ok highlights; else not_ok highlights "$(head -n 4 "$tmp/seen")"; fi
sed "s/$esc\\[[0-9;]*m//g" "$tmp/seen" >"$tmp/lines"
sed "s/[^ -~]/x/g" "$tmp/lines" >"$tmp/columns" # awk may count bytes
if awk 'length($0) > 60 { exit 1 }' "$tmp/columns"; then ok wraps; else not_ok wraps "$(awk 'length($0) > 60' "$tmp/columns" | head -n 1)"; fi
has breadcrumbs "harbour.example:$port › boats" "$tmp/lines"
on_terminal "NO_COLOR=1 $orb search $data harbour boats" >"$tmp/seen"
if ! grep -q "$esc" "$tmp/seen"; then ok no_color; else not_ok no_color "$(head -n 3 "$tmp/seen")"; fi

# Opening.
cat >"$tmp/browser" <<END
#!/bin/sh
printf '%s\n' "\$#" "\$1" >"$tmp/opened"
END
chmod +x "$tmp/browser"
export BROWSER="$tmp/browser"
run search $data --open 3 the
if [ "$code" = 0 ] && [ "$(cat "$tmp/opened" 2>/dev/null)" = "1
$third" ]; then ok opens; else not_ok opens "code $code: $(cat "$tmp/opened" "$err" 2>/dev/null)"; fi
complains opens_none 1 'not so many results' search $data --open 900 the
export BROWSER="$tmp/nothing"
complains no_browser 4 'name a browser in BROWSER' search $data --open 1 the
exit $failed
