#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# The sample web from its seeds: the pages found are those the sample says are there, and nothing forbidden is asked for.
. "$(dirname "$0")/lib.sh"

# Calm sites; with FULL=1 the slow, busy, flaky, closed and endless ones too, in a run of their own.
[ -z "${FULL:-}" ] || FULL="" sh "$0" || exit
part=calm
[ "${FULL:-}" ] && part=sites
# A site whose robots.txt is down is waited for longer than this; the flaky one comes back after a minute.
limit=60
[ "${FULL:-}" ] && limit=150
serve_sample --part $part
"$orb" crawl --data "$tmp/data" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json --max-time $limit \
    >"$tmp/json" 2>"$tmp/err"
code=$?
check sample_crawl_ends "exit code $code: $(tail -n 1 "$tmp/err")" [ $code -eq 0 ]

pages_of "$tmp/data" >"$tmp/got"
listed() { # KIND...
    for k in "$@"; do sed -n "s/^$k	//p" "$tmp/expected"; done | LC_ALL=C sort
}
traps=$(listed trap)
without_traps() { # endless areas are counted, not listed
    awk -v traps="$traps" 'BEGIN { n = split(traps, t, "\n") }
        { for (i = 1; i <= n; i++) if (t[i] != "" && index($0, t[i]) == 1) next; print }'
}
listed page >"$tmp/want"
listed page document >"$tmp/may"
without_traps <"$tmp/got" >"$tmp/got_listed"
missing=$(LC_ALL=C comm -23 "$tmp/want" "$tmp/got_listed" | head -n 5)
extra=$(LC_ALL=C comm -13 "$tmp/may" "$tmp/got_listed" | head -n 5)
check sample_pages_all_found "$(wc -l <"$tmp/got_listed") of $(wc -l <"$tmp/want"), missing: $(echo $missing) ..." [ -z "$missing" ]
check sample_pages_none_else "unexpected: $(echo $extra)" [ -z "$extra" ]

control /__ledger >"$tmp/ledger"
asked=$(awk -F'\t' -v port="$port" '{ print "http://" $3 ":" port $4 }' "$tmp/ledger" | LC_ALL=C sort -u >"$tmp/asked"
    listed refused hidden | LC_ALL=C comm -12 - "$tmp/asked")
check sample_forbidden_not_asked "asked for: $(echo $asked)" [ -z "$asked" ]
missing=$(listed list | LC_ALL=C comm -23 - "$tmp/asked")
check sample_lists_asked "not asked for: $(echo $missing)" [ -z "$missing" ]
for t in $traps; do
    n=$(grep -cF "$t" "$tmp/asked")
    check "sample_trap_bounded_$(basename "$t")" "$n pages of $t" [ "$n" -le 1100 ]
done
first=$(awk -F'\t' '!seen[$3]++ && $4 != "/robots.txt" { print $3 }' "$tmp/ledger")
check sample_robots_first "no robots.txt before the first page of: $(echo $first)" [ -z "$first" ]

[ $part = calm ] || exit $failed
# Again: nothing changed but what the sample changes, and validators are used.
control /__clear >/dev/null
control '/__bump?host=harbour.example&path=/boats/goose/history.html' >/dev/null
"$orb" crawl --data "$tmp/data" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json --max-time $limit \
    >"$tmp/json2" 2>"$tmp/err"
control /__ledger >"$tmp/ledger2"
pages_of "$tmp/data" | without_traps >"$tmp/got2"
check sample_recrawl_same_pages "the set of pages changed" cmp -s "$tmp/got_listed" "$tmp/got2"
asked=$(awk -F'\t' '$4 != "/robots.txt"' "$tmp/ledger2" | wc -l)
same=$(awk -F'\t' '$2 == 304' "$tmp/ledger2" | wc -l)
check sample_recrawl_conditional "$same of $asked answers were 304" [ "$same" -gt $((asked / 4)) ]
fresh=$(awk -F'\t' '$2 == 200 && $3 == "harbour.example" && $4 == "/boats/goose/history.html"' "$tmp/ledger2" | wc -l)
check sample_recrawl_sees_change "the changed page was not got again" [ "$fresh" -ge 1 ]
# How often pages change is counted, and told.
rate_of() { "$orb" export --data "$tmp/data" --states | jq -r "select(.url | endswith(\"harbour.example:$port$1\")) | .state.changes_a_day"; }
changed=$(rate_of /boats/goose/history.html) same=$(rate_of /boats/goose/repair.html)
check sample_recrawl_counts_rates "'$changed' and '$same' changes a day" awk -v a="$changed" -v b="$same" 'BEGIN { exit !(a > 2 * b && b > 0) }'
"$orb" explain --data "$tmp/data" "http://harbour.example:$port/boats/goose/history.html" >"$tmp/explained" 2>&1
check sample_recrawl_explains_rates "$(grep changes "$tmp/explained")" grep -q 'changes.*about every' "$tmp/explained"
exit $failed
