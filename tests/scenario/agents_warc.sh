#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# Two agents and channels that ask for WARC: the coordinator's files have every page once, as the server served it, whatever is
# killed meanwhile; unchanged pages become revisits; channels that do not ask leave nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
warc_list=$(find_program warc_list tests/scenario) || exit 4
list() { # sets $tmp/list
    "$warc_list" "$tmp"/fleet/warc/*.warc.gz >"$tmp/list" 2>"$tmp/list.err"
}

serve_sample --spread --part calm
start_coordinator --lease 20s || exit 4
for a in athens bergen; do start_agent "$a"; done
# All but one of the seeds with WARC; that one without.
plain=$(head -n 1 "$tmp/seeds")
"$orb" channel add "$plain" --data "$tmp/fleet" --label plain >/dev/null
tail -n +2 "$tmp/seeds" | while read -r url; do
    [ -n "$url" ] && "$orb" channel add "$url" --warc --data "$tmp/fleet" --label "$url" >/dev/null
done
# Both sides are killed while packages come in.
for _ in 1 2 3; do
    random_below 700
    sleep "1.$(printf %03d "$random")"
    stop_process "$fleet_pid" KILL
    [ $((random % 2)) -eq 0 ] && stop_process "$agent_pid_athens" KILL
    start_coordinator --lease 20s || exit 4
    kill -0 "$agent_pid_athens" 2>/dev/null || start_agent athens
done
wait_quiet 90
check agents_warc_finish "not quiet: $(overview .)" [ "$quiet" -ge 12 ]
stop_process "$fleet_pid"
list
check agents_warc_files_are_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check agents_warc_no_file_left_open "$(ls "$tmp/fleet/warc")" [ -z "$(find "$tmp/fleet/warc" -name '*.open')" ]

plain_host=${plain#http://}
plain_host=${plain_host%%/*}
"$orb" export --all --data "$tmp/fleet" | jq -r 'select(.status > 0) | "\(.url)\t\(.status)"' | grep -v "^http://$plain_host/" |
    LC_ALL=C sort -u >"$tmp/want"
awk -F'\t' '$1 == "response" || $1 == "revisit" { print $2 "\t" $3 }' "$tmp/list" | LC_ALL=C sort >"$tmp/answers"
LC_ALL=C sort -u "$tmp/answers" >"$tmp/got"
missing=$(LC_ALL=C comm -23 "$tmp/want" "$tmp/got" | head -n 3)
check agents_warc_has_every_page "$(wc -l <"$tmp/want") wanted, missing: $missing" [ -z "$missing" -a "$(wc -l <"$tmp/want")" -gt 500 ]
check agents_warc_has_no_other_channel "$(grep "//$plain_host/" "$tmp/answers" | head -n 2)" \
    [ "$(grep -c "//$plain_host/" "$tmp/answers")" -eq 0 ]
# Applied once: no answer is there twice (the same moment), though packages may have been applied twice.
twice=$(awk -F'\t' '$1 == "response" || $1 == "revisit" { print $2 "\t" $4 }' "$tmp/list" | sort | uniq -d | head -n 3)
check agents_warc_nothing_twice "$twice" [ -z "$twice" ]

# As the server served it.
awk -F'\t' '$1 == "response" && $3 == 200 { print $2 "\t" $5 "\t" $10 }' "$tmp/list" | LC_ALL=C sort -u | awk 'NR % 15 == 1 || /\tgzip$/' >"$tmp/some"
same=0 differ=""
while IFS='	' read -r url digest _; do
    host=${url#http://}
    host=${host%%/*}
    address=$(awk -v h="${host%%:*}" '$2 == h { print $1; exit }' "$tmp/hosts")
    sum=$(curl -s --max-time 10 -H "Host: $host" -H "Accept-Encoding: gzip, deflate, br, zstd" "http://$address:$port/${url#http://*/}" |
        sha1sum | cut -d' ' -f1)
    if [ "$sum" = "$digest" ]; then same=$((same + 1)); else differ="$differ $url"; fi
done <"$tmp/some"
check agents_warc_bodies_are_as_served "$same of $(wc -l <"$tmp/some") equal; others:$differ" [ $same -ge $(($(wc -l <"$tmp/some") - 2)) ]

# Looked at again: revisits, which refer to what is there.
before=$(wc -l <"$tmp/list")
start_coordinator --lease 20s || exit 4
"$orb" channel list --data "$tmp/fleet" --json | jq -r '.channels[].id' | while read -r id; do
    for _ in $(seq 100); do # once its agents have said again that they are done with it
        "$orb" channel recheck "$id" --data "$tmp/fleet" >/dev/null 2>&1 && break
        sleep 0.2
    done
done
sleep 2
wait_quiet 60
stop_process "$fleet_pid"
list
tail -n +$((before + 1)) "$tmp/list" >"$tmp/new"
check agents_warc_again_is_whole "$(head -n 3 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check agents_warc_unchanged_pages_are_revisits "$(cut -f 1,8 "$tmp/new" | sort | uniq -c | tr '\n' ';')" \
    [ "$(grep -c server-not-modified "$tmp/new")" -ge 100 -a "$(grep -c identical-payload-digest "$tmp/new")" -ge 50 ]
lost=$(awk -F'\t' '$1 == "response" { has[$2 "\t" $4] = 1 } $1 == "revisit" { want[$6 "\t" $7] = 1 }
    END { for (w in want) if (!(w in has)) print w }' "$tmp/list")
check agents_warc_revisits_refer_to_responses "$(echo "$lost" | head -n 3)" [ -z "$lost" ]
exit $failed
