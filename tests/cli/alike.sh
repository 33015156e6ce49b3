#!/bin/sh
# Near-duplicates of a crawl: folded in search, told of by explain and export, made again by check.
. "$(dirname "$0")/lib.sh"

serve_sample --part calm
set -- --data "$tmp/d" --hosts "$tmp/hosts" --allow-private --delay 0 --contact me@example.org
run crawl "$@" --quiet --seeds "$tmp/seeds"
if [ "$code" = 0 ]; then ok crawl; else not_ok crawl "code $code: $(cat "$err")"; fi
data="--data $tmp/d"
bakery=http://bakery.example:$port birds=http://birds.example:$port radio=http://radio.example:$port

run export $data
cp "$out" "$tmp/pages"
first_of() { jq -r --arg u "$1" 'select(.url == $u) | .near_dup_of' "$tmp/pages"; }
# NAME URL FIRST: export says that URL is a near-duplicate of FIRST ("null": of none).
near() {
    if [ "$(first_of "$2")" = "$3" ]; then ok "$1"; else not_ok "$1" "near_dup_of of $2 is \"$(first_of "$2")\", want \"$3\""; fi
}
# NAME URL URL: one of them is a near-duplicate of the other; which one, says who came first.
pair() {
    a=$(first_of "$2") b=$(first_of "$3")
    if [ "$a $b" = "$3 null" ] || [ "$a $b" = "null $2" ]; then ok "$1"; else not_ok "$1" "near_dup_of are $a and $b"; fi
}
near print_version_that_names_its_page "$bakery/print/country-sourdough.html" "$bakery/bread/country-sourdough/recipe.html"
pair print_version_that_does_not "$bakery/print/dark-rye.html" "$bakery/bread/dark-rye/recipe.html"
pair same_bytes "$birds/archive/bittern.html" "$birds/birds/bittern/"
pair version_with_one_more_sentence "$radio/blog/heron-again.html" "$radio/sets/heron-5/repair.html"
near article_of_another_site "$birds/links/telescope.html" "http://observatory.example:$port/instruments/robot-telescope/"
near another_article "$bakery/bread/country-sourdough/" null
near another_page_of_the_subject "$bakery/bread/dark-rye/" null
# Pages of a theme are made from one pattern, and are different pages all the same.
folded=$(jq -r 'select(.near_dup_of != null) | .url' "$tmp/pages" | wc -l)
all=$(wc -l <"$tmp/pages")
if [ "$folded" -ge 15 ] && [ "$folded" -lt $((all / 10)) ]; then ok few_are_folded; else not_ok few_are_folded "$folded of $all pages"; fi
if jq -e 'select(.near_dup_of != null) | .near_dup_of' "$tmp/pages" | sort -u | while read -r first; do
    jq -e "select(.url == $first) | .near_dup_of == null" "$tmp/pages"
done | grep -q false; then
    not_ok the_first_of_a_group_is_in_no_other "$(jq -c 'select(.near_dup_of != null) | [.url, .near_dup_of]' "$tmp/pages" | head -n 5)"
else
    ok the_first_of_a_group_is_in_no_other
fi

one_of='select(.url | test("dark-rye/recipe.html$|print/dark-rye"))'
run search $data --json dark rye recipe site:bakery.example --limit 100
holds search_folds "[.results[] | $one_of | .similar] == [1]"
run search $data --json --similar dark rye recipe site:bakery.example --limit 100
holds search_unfolds "[.results[] | $one_of | .similar] == [0, 0]"
# What is folded is no more to come.
run search $data --json dark rye recipe site:bakery.example --limit 100
shown=$(jq '.results | length' "$out")
run search $data dark rye recipe site:bakery.example --limit "$shown"
if grep -q More: "$out"; then not_ok no_more_where_rest_is_folded "$(tail -n 1 "$out")"; else ok no_more_where_rest_is_folded; fi
run search $data dark rye recipe site:bakery.example --offset "$shown"
has none_after_the_last ", none from number $((shown + 1)) on" "$out"
run search $data dark rye recipe site:bakery.example --limit $((shown - 1))
has more_before_the_last "More: --offset $((shown - 1))" "$out"

print=$radio/print/seafarer.html page=$radio/sets/seafarer/circuit.html
run explain $data --json "$print"
holds explain_json ".near_dup_of == \"$page\" and .alike == 2 and .near_dup_distance > 0 and .near_dup_by_canonical == true and (has(\"canonical_ignored\") | not)"
run explain $data "$print"
has explain_text "near-duplicate   $page" "$out"
has explain_distance ' bits, and names it as canonical' "$out"
run explain $data --json "$page"
holds explain_first '.alike == 2 and (has("near_dup_of") | not)'
holds explain_lists_the_others ".near_dups | map([.url, .by_canonical]) == [[\"$print\", true]]"
run explain $data "$page"
has explain_lists_the_others_text "similar          $print" "$out"
run explain $data --json "$bakery/bread/dark-rye/"
holds explain_none '(has("alike") or has("near_dup_of")) | not'
run explain $data --json "$birds/birds/"
holds explain_alternates "(.alternates | map(.lang)) == [\"en\", \"pl\"] and .alternates[1].url == \"$birds/ptaki/\""
run explain $data "$birds/birds/"
has explain_alternates_text "alternate        pl $birds/ptaki/" "$out"

# The server folds the same way, and says when it was told otherwise.
"$orb" serve $data --listen 127.0.0.1:0 >"$tmp/serve.out" 2>"$tmp/serve.err" &
pids="$pids $!"
wait_for_line "$tmp/serve.out" '^http://'
api=$(sed -n '1s,/$,,p' "$tmp/serve.out")/api/v1/search
curl -s "$api?q=dark+rye+recipe+site:bakery.example&limit=100" >"$out"
holds served_folded "[.results[] | $one_of | .similar] == [1]"
curl -s "$api?q=dark+rye+recipe+site:bakery.example&limit=100&similar=1" >"$out"
holds served_unfolded "[.results[] | $one_of | .similar] == [0, 0]"

# The file is derived: damage costs nothing but the folding, and is put right.
size=$(wc -c <"$tmp/d/alike/groups")
printf x | dd of="$tmp/d/alike/groups" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run search $data --json dark rye
if [ "$code" = 0 ]; then ok search_without_groups; else not_ok search_without_groups "code $code: $(cat "$err")"; fi
run export $data
has export_says_so 'near-duplicates are left out: run orb check' "$err"
run check $data --no-repair
if [ "$code" = 1 ] && grep -q 'near-duplicates: .*groups is damaged' "$out"; then ok check_finds_it; else not_ok check_finds_it "code $code: $(cat "$out")"; fi
run check $data
if [ "$code" = 0 ]; then ok check_repairs; else not_ok check_repairs "code $code: $(cat "$out")"; fi
run export $data
if cmp -s "$out" "$tmp/pages"; then ok as_before; else not_ok as_before "$(diff "$out" "$tmp/pages" | head -n 2)"; fi
exit $failed
