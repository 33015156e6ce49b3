#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A coordinator that runs forgets a site: pages, texts, index and WARC records go, its agents ask nothing of it any more, and what they
# bring all the same is dropped; so with its list of those who want to be left alone. The folder is lost and restored from a backup that
# was made while the crawl was under way: the agents bring what came later.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

# The path of every request to a host since the ledger was cleared.
asked() { control /__ledger | awk -F'\t' -v h="$1" '$3 ~ h { n++ } END { print n + 0 }'; }
known() { "$orb" export --data "$tmp/fleet" --all | grep -c "\"url\":\"http://$1"; }
forget() { "$orb" forget --data "$tmp/fleet" "$@" 2>&1; }

serve_sample --spread --part calm
printf '# asked to be left alone\nradio.example  2026-11-02 its owner wrote\n' >"$tmp/list"
start_coordinator --lease 20s --opt-out "$tmp/list" || exit 4
# Of before there is anything in it, too.
"$orb" backup --data "$tmp/fleet" "$tmp/empty.tar.zst" >"$tmp/out" 2>&1
"$orb" restore "$tmp/empty.tar.zst" "$tmp/empty" --json >"$tmp/restored" 2>&1
check an_empty_folder_is_restored "$(cat "$tmp/out" "$tmp/restored")" [ "$(jq -r .well "$tmp/restored")" = true ]
for a in athens bergen; do start_agent "$a" --delay 80; done
while read -r url; do
    [ -n "$url" ] && "$orb" channel add "$url" --warc --data "$tmp/fleet" --label "$url" >/dev/null
done <"$tmp/seeds"
# While the crawl is under way.
has_some() { [ "$("$orb" export --data "$tmp/fleet" --all | wc -l)" -gt 20 ]; }
await 60 has_some
said=$(forget museum.example --why 'they asked for it')
check forget_while_crawling "$said" [ "$(printf '%s\n' "$said" | head -n 1)" = "forgotten museum.example" ]
"$orb" backup --data "$tmp/fleet" "$tmp/early.tar.zst" --json >"$tmp/backed" 2>&1
check backup_beside_a_coordinator "$(cat "$tmp/backed")" [ "$(jq -r .coordinator "$tmp/backed")" = true ]
wait_quiet 90
check finish "not quiet: $(overview .)" [ "$quiet" -ge 12 ]
check opt_out_was_never_asked "$(asked '^radio.example') requests" [ "$(asked '^radio.example')" -eq 0 ]
check opt_out_has_no_page "$(known radio.example) pages" [ "$(known radio.example)" -eq 0 ]
check forgotten_has_no_page "$(known museum.example) pages" [ "$(known museum.example)" -eq 0 ]
check others_are_there "$(known harbour.example) pages of the harbour" [ "$(known harbour.example)" -gt 20 ]
agent_has() { "$orb" export --data "$tmp/$1" --all 2>/dev/null | grep -c '"url":"http://museum'; }
for _ in $(seq 50); do
    [ "$(agent_has athens)" -eq 0 ] && [ "$(agent_has bergen)" -eq 0 ] && break
    sleep 0.2
done
check agents_have_no_page "$(agent_has athens) and $(agent_has bergen) pages" [ "$(agent_has athens)$(agent_has bergen)" = 00 ]

# Everything is there now: another site, and a folder of one; and of the bakery there are records that somebody else keeps.
"$orb" crawl --data "$tmp/other" --warc "$tmp/other_warc" --no-index --hosts "$tmp/hosts" --allow-private --delay 0 --pages 5 --quiet \
    "http://bakery.example:$port/"
in_other() { cat "$tmp"/other_warc/*.warc.gz* | zcat 2>/dev/null | grep -ca 'WARC-Target-URI: http://bakery.example'; }
check other_archive_has_records "$(in_other)" [ "$(in_other)" -gt 0 ]
control /__clear >/dev/null
n=$(known bakery.example)
said=$(forget bakery.example "http://harbour.example:$port/boats/wagtail/*" --warc "$tmp/other_warc" --json)
check forget_says_what_went "$said" [ "$(printf '%s' "$said" |
    jq -r '.done and .dry_run == false and .pages >= '"$n"' and .warc_records > .pages and (.warc_files | length) == 1')" = true ]
check other_archive_has_no_record "$(in_other)" [ "$(in_other)" -eq 0 ]
check forget_is_listed "$(forget --list)" [ "$(forget --list --json | jq -r '[.forgotten[].place] | length')" = 4 ]
"$orb" search --data "$tmp/fleet" --json site:bakery.example the >"$tmp/found" 2>/dev/null
check forgotten_is_not_found "$(cat "$tmp/found")" [ "$(jq -r .total "$tmp/found")" = 0 ]
in_warc() { cat "$tmp"/fleet/warc/*.warc.gz* 2>/dev/null | zcat 2>/dev/null | grep -ca "WARC-Target-URI: http://$1"; }
check warc_has_no_record "$(in_warc bakery.example) records" [ "$(in_warc bakery.example)" -eq 0 ]
check warc_has_the_others "$(in_warc harbour.example) records" [ "$(in_warc harbour.example)" -gt 20 ]
"$orb" channel recheck all --data "$tmp/fleet" >/dev/null
asks_others() { [ "$(asked '^harbour.example')" -gt 20 ]; }
await 60 asks_others
wait_quiet 60
check recheck_asks_nothing_of_it "$(asked '^bakery.example') requests" [ "$(asked '^bakery.example')" -eq 0 ]
check recheck_asks_others "$(asked '^harbour.example') requests" asks_others
"$orb" explain --data "$tmp/fleet" "http://museum.example:$port/" >"$tmp/explained" 2>&1
check explain_says_it "$(cat "$tmp/explained")" grep -q 'they asked for it' "$tmp/explained"

# A line is added to the list while the coordinator runs.
echo 'council.example' >>"$tmp/list"
for _ in $(seq 100); do
    [ "$(known council.example)" -eq 0 ] && break
    sleep 0.2
done
check list_is_read_again "$(known council.example) pages" [ "$(known council.example)" -eq 0 ]

# The folder is lost. What came after the backup comes once more from the agents, and what was forgotten before it stays so.
"$orb" export --data "$tmp/fleet" --all | jq -r .url | LC_ALL=C sort >"$tmp/lost"
stop_process "$fleet_pid" KILL
rm -rf "$tmp/fleet"
"$orb" restore "$tmp/early.tar.zst" "$tmp/fleet" --json >"$tmp/restored" 2>&1
check restore "$(cat "$tmp/restored")" [ "$(jq -r .well "$tmp/restored")" = true ]
"$orb" export --data "$tmp/fleet" --all | jq -r .url | LC_ALL=C sort >"$tmp/early"
later=$(LC_ALL=C comm -23 "$tmp/lost" "$tmp/early" | wc -l)
check the_backup_was_an_early_one "$later of $(wc -l <"$tmp/lost") pages came later" [ "$later" -gt 0 ]
start_coordinator --lease 20s --opt-out "$tmp/list" || exit 4
wait_quiet 90
check restored_goes_on "not quiet: $(overview .)" [ "$quiet" -ge 12 ]
"$orb" export --data "$tmp/fleet" --all | jq -r .url | LC_ALL=C sort >"$tmp/again"
missing=$(LC_ALL=C comm -23 "$tmp/lost" "$tmp/again" | head -n 3)
check agents_brought_what_came_later "$later pages came later, $(wc -l <"$tmp/again") are there now, missing: $missing" [ -z "$missing" ]
check restored_forgets "$(known museum.example) and $(known council.example) pages" [ "$(known museum.example)$(known council.example)" = 00 ]
stop_process "$fleet_pid"

# The coordinator is stopped: what it has besides the folder of a crawl goes as well.
mkdir -p "$tmp/fleet/links"
echo "http://orchard.example:$port/planted" >"$tmp/fleet/links/0123456789abcdef"
check warc_has_the_site "$(in_warc orchard.example) records" [ "$(in_warc orchard.example)" -gt 0 ]
said=$(forget orchard.example --json)
check forget_in_a_stopped_folder "$said" [ "$(printf '%s' "$said" | jq -r '.warc_records > 0')" = true ]
check stopped_warc_has_no_record "$(in_warc orchard.example) records" [ "$(in_warc orchard.example)" -eq 0 ]
check stopped_links_are_gone "$(grep -rl orchard.example "$tmp/fleet/links")" [ -z "$(grep -rl orchard.example "$tmp/fleet/links")" ]
"$orb" check --data "$tmp/fleet" --no-repair --json >"$tmp/checked" 2>&1
check all_is_well "$(cat "$tmp/checked")" [ "$(jq -r '.well and .forgotten == 0' "$tmp/checked")" = true ]
exit $failed
