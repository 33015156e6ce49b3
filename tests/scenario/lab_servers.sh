#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# The lab's name and web servers with real clients: libc's resolver reads PTR and LOC; pages change at their rate, and the same way after a
# restart; sites fail and refuse as they are told to; the ledger is whole after kill -9 and goes on.
. "$(dirname "$0")/lib.sh"
orb_lab=${ORB_LAB_PROGRAM:-$(find_program orb-lab lab)} || exit 4
ask=$(find_program ask tests/scenario) || exit 4

cat >"$tmp/lab" <<'END2'
place hq   20.0.0.1
place far  20.3.0.0/24
place one@servers  30.1.0.0/16  2a01:1::/48
rtt * * 1
site one.example   30.1.0.1 2a01:1::1 pages=20 bytes=1000 loc=-33.5,151.25
site two.example   30.1.0.2 pages=6000 bytes=1000
site three.example 30.1.0.3 pages=200 bytes=1000 errors=30
site still.example 30.1.0.4 pages=20 change=0
name geo.example 30.1.0.1
name geo.example 30.1.0.2 from=far
dns 30.1.0.53
END2

if ! "$orb_lab" up --quiet "$tmp/lab" true 2>"$tmp/err"; then
    if grep -q 'needs network namespaces' "$tmp/err"; then
        echo "# skipped: no user namespaces for us, the lab was not tried"
        exit 0
    fi
    not_ok lab_comes_up "$(cat "$tmp/err")"
    exit 1
fi

cat >"$tmp/inside" <<'END2'
tmp=$1 lab=$2 ask=$3
start() { # NAME OPTION...: serves; its process is $!, which is `serve` itself
    out=$tmp/$1.out
    shift
    : >"$out"
    "$lab" in servers "$lab" serve "$@" "$tmp/lab" >"$out" 2>&1 &
    for _ in $(seq 1200); do
        grep -q ^ready "$out" && break
        sleep 0.05
    done
}
get() { curl -s --max-time 4 "$@"; }
codes() { curl -s --max-time 8 -o /dev/null -w '%{http_code}\n' "$@" | tr '\n' ' '; }
tags() { curl -sI --max-time 8 "$@" | tr -d '\r' | sed -n 's/^ETag: //p'; }
pages20='http://one.example/p/[1-19].html'

start first --change 1 --speed 86400 --ledger "$tmp/ledger"
first=$!
since=$(sed -n 's/.*since //p' "$tmp/first.out")
start second --change 1 --speed 86400 --began "$since" --port 81 --no-dns --control second --ledger "$tmp/ledger2"
{
    # ---- names ----
    echo "loc $("$ask" one.example LOC | tail -n 1 | tr -s '\t ' ' ')"
    echo "ptr $("$ask" 1.0.1.30.in-addr.arpa PTR | awk '{ print $NF }' | tr '\n' ' ')"
    echo "six $(getent hosts 2a01:1::1 | awk '{ print $2 }')"
    echo "client $(getent hosts 20.3.0.1 | awk '{ print $2 }')"
    echo "geo $("$ask" geo.example A | awk 'NR > 1 { print $NF }') $("$lab" in far "$ask" geo.example A | awk 'NR > 1 { print $NF }')"
    echo "nothing $("$ask" one.example LOC | head -n 1), $("$ask" two.example LOC), $("$ask" example A), $("$ask" none.example A), $("$ask" 9.9.1.30.in-addr.arpa PTR)"

    # ---- sitemaps ----
    map=$(get http://one.example/robots.txt | sed -n 's/^Sitemap: //p')
    echo "sitemap $map $(get "$map" | grep -c '<lastmod>20')"
    parts=$(get http://two.example/sitemap.xml | sed -n 's/.*<sitemap><loc>\(.*\)<\/loc>.*/\1/p')
    echo "parts $(for part in $parts; do get "$part"; done | sed -n 's/.*<url><loc>\([^<]*\)<.*/\1/p' | sort -u | wc -l)"

    # ---- change: one a page and second, on average ----
    tags "$pages20" >"$tmp/tags1"
    sleep 1.5
    tags "$pages20" >"$tmp/tags2"
    echo "changed $(paste "$tmp/tags1" "$tmp/tags2" | awk '$1 != $2' | wc -l)"
    same=0 # the most of five: between the two more change where there is less time for them
    for _ in 1 2 3 4 5; do
        tags "$pages20" >"$tmp/tags2"
        tags 'http://one.example:81/p/[1-19].html' >"$tmp/tags3"
        n=$(paste "$tmp/tags2" "$tmp/tags3" | awk '$1 == $2' | wc -l)
        [ "$n" -gt "$same" ] && same=$n
    done
    echo "same $same"
    tags 'http://still.example/p/[1-19].html' >"$tmp/still1"
    "$lab" tell --serve speed 0
    time1=$("$lab" tell --serve stats | jq .time_s)
    tags "$pages20" >"$tmp/tags4"
    tag=$(head -n 1 "$tmp/tags4")
    head=$(curl -sI --max-time 4 http://one.example/p/1.html | tr -d '\r')
    modified=$(echo "$head" | sed -n 's/^Last-Modified: //p')
    echo "again $(codes -H "If-None-Match: $tag" http://one.example/p/1.html)$(codes -H "If-Modified-Since: $modified" http://one.example/p/1.html)$(codes -H 'If-None-Match: "0"' http://one.example/p/1.html)"
    echo "date $(($(date -d "$modified" +%s) <= $(date +%s)))"
    sleep 0.5
    echo "stopped $(tags "$pages20" | paste "$tmp/tags4" - | awk '$1 != $2' | wc -l) $("$lab" tell --serve stats | jq ".time_s == $time1")"
    "$lab" tell --serve speed 86400
    sleep 0.5
    echo "onward $("$lab" tell --serve stats | jq ".time_s > $time1 + 30000 and .time_s < $time1 + 4000000")"
    echo "still $(tags 'http://still.example/p/[1-19].html' | paste "$tmp/still1" - | awk '$1 != $2' | wc -l)"

    # ---- errors and limits ----
    codes 'http://three.example/p/[1-199].html' | tr ' ' '\n' | sort | uniq -c >"$tmp/faults"
    codes 'http://three.example:81/p/[1-199].html' | tr ' ' '\n' | sort | uniq -c >"$tmp/faults2"
    echo "faults $(awk '$2 >= 500 { n += $1 } END { print (n > 35 && n < 85) }' "$tmp/faults") $(awk '$2 >= 500' "$tmp/faults" | wc -l) $(cmp "$tmp/faults" "$tmp/faults2" && echo alike)"
    "$lab" tell --serve errors one.example 100
    echo "broken $(codes 'http://one.example/p/[1-8].html' | tr ' ' '\n' | sort -u | tr '\n' ' ')$(codes http://one.example/robots.txt)"
    "$lab" tell --serve errors '*' 0
    echo "mended $(codes http://one.example/)$(codes http://three.example/)"
    "$lab" tell --serve limit one.example 0.2
    echo "limited $(codes 'http://one.example/p/[1-4].html')$("$lab" in far curl -s --max-time 4 -o /dev/null -w '%{http_code}' http://one.example/)"
    echo "retry $(curl -sI --max-time 4 http://one.example/ | tr -d '\r' | sed -n 's/^Retry-After: //p')"
    sleep 5.2
    echo "later $(codes http://one.example/)"
    "$lab" tell --serve limit one.example 0
    "$lab" tell --serve close on
    echo "close $(curl -sI --max-time 4 http://one.example/ | tr -d '\r' | sed -n 's/^Connection: //p')"
    for order in 'errors one.example 101' 'errors nowhere 1' 'limit one.example' 'speed -1' 'close maybe' 'slow one.example 1 2'; do
        # shellcheck disable=SC2086
        "$lab" tell --serve $order 2>/dev/null || echo "refused $order"
    done

    # ---- the ledger ----
    get -o /dev/null http://one.example/private/never.html
    "$lab" tell --serve flush
    "$lab" audit --json "$tmp/ledger" >"$tmp/audit"
    (while curl -s --max-time 4 --fail-early -o /dev/null 'http://two.example/p/[1-500].html'; do :; done) &
    load=$!
    lines=$(wc -l <"$tmp/ledger")
    for _ in $(seq 300); do [ "$(wc -l <"$tmp/ledger")" -ge $((lines + 100)) ] && break; sleep 0.1; done
    kill -9 $first
    wait $first $load
    "$lab" audit --json "$tmp/ledger" >"$tmp/audit_killed"
    printf '1794838000.5\t20.0.0.1\t30' >>"$tmp/ledger" # as a kill in the middle of a write leaves it
    start third --began "$since" --speed 86400 --change 1 --ledger "$tmp/ledger"
    codes http://one.example/ >/dev/null
    "$lab" tell --serve flush
    "$lab" audit --json "$tmp/ledger" >"$tmp/audit_again"
    echo "onward2 $("$lab" tell --serve stats | jq '.time_s > 300000')"
} >"$tmp/seen" 2>"$tmp/seen.err"
END2
"$orb_lab" up --quiet "$tmp/lab" sh "$tmp/inside" "$tmp" "$orb_lab" "$ask" 2>"$tmp/err"
seen() { sed -n "s/^$1 //p" "$tmp/seen"; }
is() { check "$1" "$2 is \"$(seen "$2")\": $(head -n 3 "$tmp/seen.err")" [ "$(seen "$2")" = "$3" ]; }
holds() { # NAME FILE FILTER
    check "$1" "$(head -c 600 "$tmp/$2")" [ "$(jq "$3" "$tmp/$2")" = true ]
}
is a_host_has_a_location loc "one.example. 1M IN LOC 33 30 00.000 S 151 15 00.000 E 0.00m 1.00m 10000.00m 10.00m"
is an_address_has_names ptr "2 one.example. geo.example. "
is an_ipv6_address_too six one.example
is a_client_s_address_too client far
is answers_depend_on_the_place geo "30.1.0.1 30.1.0.2"
is no_record_is_not_no_name nothing "ok 1, ok 0, ok 0, nxdomain 0, nxdomain 0"
is robots_txt_names_a_sitemap sitemap "http://one.example/sitemap.xml 20"
is a_large_site_s_sitemap_has_every_page parts 6000
check pages_change "$(seen changed) of 19" [ "$(seen changed)" -ge 8 ]
check another_server_of_the_same_time_has_the_same_pages "$(seen same) of 19" [ "$(seen same)" -ge 12 ]
is what_did_not_change_is_not_sent again "304 304 200 "
is dates_are_not_of_the_future date 1
is time_can_stand_still stopped "0 true"
is and_go_on_without_a_jump onward true
is pages_without_changes_stay still 0
is errors_come_as_often_as_they_are_asked_for faults "1 2 alike"
is all_but_robots_txt_can_break broken "500 503 200 "
is and_be_mended mended "200 200 "
is who_asks_too_often_is_turned_away_and_others_are_not limited "200 200 429 429 200"
check and_told_when_to_come_back "retry is \"$(seen retry)\"" [ "$(seen retry)" -ge 1 -a "$(seen retry)" -le 5 ]
is and_let_in_then later "200 "
is connections_can_be_closed_from_now_on close close
check bad_orders_are_refused "$(grep refused "$tmp/seen")" [ "$(grep -c ^refused "$tmp/seen")" -eq 6 ]
holds the_ledger_tells_what_was_asked audit '.forbidden == 1 and .robots == 2 and .limited == 3 and .errors > 35 and .unchanged == 2 and .handed.pairs == 2 and (.clients | length) == 2'
holds the_ledger_is_whole_after_kill_9 audit_killed ".requests >= $(jq .requests "$tmp/audit") + 50"
holds and_goes_on audit_again ".requests == $(jq .requests "$tmp/audit_killed") + 1"
is and_so_does_the_time onward2 true
exit $failed
