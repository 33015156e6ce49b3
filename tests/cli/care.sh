#!/bin/sh
# forget, prune, backup, restore, and the list of those who want to be left alone.
. "$(dirname "$0")/lib.sh"

complains forget_without_folder 4 'not there' forget --data "$tmp/none" example.org
complains forget_nothing 2 'what?' forget --data "$tmp/none"
complains forget_bad_place 3 'a * may only stand at its end' forget --data "$tmp/none" 'https://*.example/'
complains forget_list_with_place 2 'shows everything' forget --list example.org
complains prune_without_folder 4 'not there' prune --data "$tmp/none"
complains backup_without_folder 4 'not there' backup --data "$tmp/none" "$tmp/x"
complains restore_without_file 4 'not there' restore "$tmp/none" "$tmp/x"
complains restore_takes_no_folder_option 2 'not an option of this command' restore --data "$tmp/none" "$tmp/none" "$tmp/x"
complains restore_has_no_index_option 2 'no such option' restore --no-index "$tmp/none" "$tmp/x"
complains restore_one_argument 2 'something is missing' restore "$tmp/none"
if [ -e "$tmp/none" ]; then not_ok no_folder_is_made "$(ls "$tmp/none")"; else ok no_folder_is_made; fi

serve_sample --part calm
set -- --data "$tmp/d" --hosts "$tmp/hosts" --allow-private --delay 0
run crawl "$@" --quiet --seeds "$tmp/seeds" --warc "$tmp/w"
if [ "$code" = 0 ]; then ok crawl; else not_ok crawl "code $code: $(cat "$err")"; fi
wagtail="http://harbour.example:$port/boats/wagtail/"
run export --data "$tmp/d" --all
cp "$out" "$tmp/before"
known=$(wc -l <"$tmp/before")
museum=$(grep -c "\"url\":\"http://museum.example:" "$tmp/before")
boats=$(grep -c "\"url\":\"$wagtail" "$tmp/before")
warc_has() { cat "$tmp"/w/orb-*.warc.gz | zcat | grep -ca "WARC-Target-URI: $1"; }

# A backup from before, that everything is compared with later.
run backup --data "$tmp/d" "$tmp/b.tar.zst" --json
holds backup_json '.files > 5 and .bytes > 10000 and .file_bytes > 1000 and .coordinator == false'
if [ "$(stat -c %a "$tmp/b.tar.zst")" = 600 ]; then ok backup_is_for_its_owner; else not_ok backup_is_for_its_owner "$(stat -c %a "$tmp/b.tar.zst")"; fi
if ls -d "$tmp"/d/.backup-* >/dev/null 2>&1; then not_ok backup_leaves_nothing "$(ls -a "$tmp/d")"; else ok backup_leaves_nothing; fi

complains backup_into_itself 2 'in the data folder' backup --data "$tmp/d" "$tmp/d"
mkdir "$tmp/d/below"
complains backup_into_a_folder_of_itself 2 'in the data folder' backup --data "$tmp/d" "$tmp/d/below/../below/x.tar.zst"
rmdir "$tmp/d/below"
run backup --data "$tmp/d" "$tmp/d2"
if [ "$code" = 0 ] && [ -f "$tmp/d2" ]; then ok backup_beside_itself; else not_ok backup_beside_itself "$(cat "$err")"; fi
rm -f "$tmp/d2"

echo 'no backup at all' >"$tmp/text"
complains restore_of_something_else 3 'not a backup' restore "$tmp/text" "$tmp/x"
run check "$tmp/text"
has check_of_something_else 'not a backup' "$out"

# Through a pipe, and what is no file is written to and not replaced.
run backup --data "$tmp/d" -
cp "$out" "$tmp/pipe.tar.zst"
has backup_to_standard_output 'files, ' "$err"
run check "$tmp/pipe.tar.zst"
has backup_in_a_pipe_is_whole 'all is well' "$out"
if [ -e - ]; then not_ok backup_makes_no_dash "$(ls -l -- -)"; else ok backup_makes_no_dash; fi
mkfifo "$tmp/fifo"
cat "$tmp/fifo" >"$tmp/fifo.tar.zst" &
reader=$!
pids="$pids $reader"
run backup --data "$tmp/d" "$tmp/fifo"
wait_or_end() { for _ in $(seq 100); do kill -0 "$1" 2>/dev/null || return; sleep 0.05; done; kill "$1" 2>/dev/null; }
wait_or_end "$reader"
if [ -p "$tmp/fifo" ] && "$orb" check "$tmp/fifo.tar.zst" >/dev/null 2>&1; then ok backup_to_a_fifo; else not_ok backup_to_a_fifo "$(ls -l "$tmp/fifo" "$tmp/fifo.tar.zst")"; fi
ln -s /dev/full "$tmp/full"
complains backup_to_a_full_device 4 'No space left' backup --data "$tmp/d" "$tmp/full"
if [ -L "$tmp/full" ]; then ok a_device_stays; else not_ok a_device_stays "$(ls -l "$tmp/full")"; fi

# ---- forget ----
run forget --data "$tmp/d" --json --dry-run --warc "$tmp/w" museum.example "$wagtail*"
holds forget_dry_run ".dry_run and .pages == $((museum + boats)) and .warc_records > $boats"
run export --data "$tmp/d" --all
if cmp -s "$out" "$tmp/before"; then ok dry_run_changes_nothing; else not_ok dry_run_changes_nothing "$(diff "$out" "$tmp/before" | head -n 2)"; fi
prints=$(stat -c %s "$tmp/d/alike/pages")
complains forget_without_warc 4 'check --warc' forget --data "$tmp/d" --warc "$tmp/none" museum.example
complains prune_without_warc 4 'not there' prune --data "$tmp/d" --warc "$tmp/none" --keep-warc 1
run forget --data "$tmp/d" --list
has nothing_is_forgotten_before 'nothing is forgotten' "$out"
run forget --data "$tmp/d" --json --warc "$tmp/w" --why 'they asked for it' museum.example "$wagtail*"
holds forget_json ".places == [\"museum.example\", \"$wagtail*\"] and .pages == $((museum + boats)) and .texts > $boats and (.warc_files | length) == 1"
run export --data "$tmp/d" --all
if [ "$(wc -l <"$out")" = $((known - museum - boats)) ] && ! grep -q "\"url\":\"http://museum\|\"url\":\"$wagtail" "$out"; then
    ok forgotten_pages_are_gone
else
    not_ok forgotten_pages_are_gone "$(wc -l <"$out") of $known pages"
fi
if [ "$(warc_has "http://museum.example")" = 0 ] && [ "$(warc_has "http://harbour.example:$port/boats/")" != 0 ]; then
    ok warc_records_are_gone
else
    not_ok warc_records_are_gone "$(warc_has "http://museum.example") records"
fi
run search --data "$tmp/d" --json site:museum.example the
holds search_finds_nothing '.total == 0'
run check --data "$tmp/d" --no-repair --json
holds check_after_forget '.well and .forgotten == 0 and .strange == 0 and .index_deleted == 0'
if [ -s "$tmp/d/alike/groups" ] && [ "$(stat -c %s "$tmp/d/alike/pages")" -lt "$prints" ]; then ok fingerprints_are_gone; else not_ok fingerprints_are_gone "$(ls -l "$tmp/d/alike")"; fi
title=$(jq -r "select(.url == \"http://museum.example:$port/\") | .title" "$tmp/before")
if grep -raqF "$title" "$tmp/d"; then not_ok no_title_is_left "$(grep -ralF "$title" "$tmp/d")"; else ok no_title_is_left; fi
run forget --data "$tmp/d" --list --json
holds forget_list '[.forgotten[].place] == ["http://harbour.example:'"$port"'/boats/wagtail/*", "museum.example"] and .forgotten[0].why == "they asked for it"'
run explain --data "$tmp/d" "${wagtail}logbook.html"
has explain_forgotten 'they asked for it' "$out"
run crawl "$@" --quiet --seeds "$tmp/seeds"
run export --data "$tmp/d" --all
if grep -q "\"url\":\"http://museum\|\"url\":\"$wagtail" "$out"; then not_ok a_recrawl_does_not_bring_them_back "$(grep -m 1 "museum\|wagtail" "$out")"; else ok a_recrawl_does_not_bring_them_back; fi
complains undo_unknown 1 'not forgotten' forget --data "$tmp/d" --undo other.example
complains undo_one_of_two_unknown 1 'not forgotten' forget --data "$tmp/d" --undo museum.example other.example
run forget --data "$tmp/d" --undo --dry-run museum.example
run forget --data "$tmp/d" --list
has undo_is_all_or_nothing 'museum.example' "$out"
run forget --data "$tmp/d" --undo museum.example
has undo 'may be crawled again' "$out"
run crawl "$@" --quiet --seeds "$tmp/seeds"
run export --data "$tmp/d" --all
n=$(grep -c "\"url\":\"http://museum.example:" "$out")
if [ "$n" = "$museum" ] && ! grep -q "\"url\":\"$wagtail" "$out"; then ok undone_pages_come_back; else not_ok undone_pages_come_back "$n of $museum"; fi

# Long queues are in files that hosts share.
rec() { # HOST
    awk -v host="$1" 'BEGIN {
        body = "<title>Links</title>"
        for (i = 1; i <= 6000; i++) body = body "<a href=/" substr(host, 1, 1) "-waits/" i ">x</a>"
        http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" body
        printf "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%s>\r\nContent-Type: application/http; msgtype=response\r\n", host
        printf "WARC-Target-URI: http://%s/\r\nWARC-Date: 2020-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", host, length(http), http
    }'
}
{
    rec a.example
    rec b.example
} >"$tmp/links.warc"
run import --data "$tmp/q" --quiet "$tmp/links.warc"
if grep -raq b-waits "$tmp/q/frontier" && grep -raq a-waits "$tmp/q/frontier"; then ok queues_are_put_away; else not_ok queues_are_put_away "$(ls "$tmp/q/frontier")"; fi
run forget --data "$tmp/q" b.example
if grep -raq b-waits "$tmp/q"; then not_ok no_waiting_url_is_left "$(grep -ralF b-waits "$tmp/q")"; else ok no_waiting_url_is_left; fi
if [ "$(grep -rao 'a-waits' "$tmp/q/frontier" | wc -l)" -ge 5000 ]; then ok other_urls_wait_on; else not_ok other_urls_wait_on "$(ls -l "$tmp/q/frontier")"; fi

# While somebody writes to the folder.
mkfifo "$tmp/hold"
flock "$tmp/d/lock" sh -c "read -r _ <'$tmp/hold'" &
holder=$!
pids="$pids $holder"
for _ in $(seq 100); do flock -n "$tmp/d/lock" true || break; sleep 0.05; done
complains forget_in_use 4 'in use' forget --data "$tmp/d" example.org
complains prune_in_use 4 'in use' prune --data "$tmp/d"
run forget --data "$tmp/d" --list
has list_in_use wagtail "$out"
run backup --data "$tmp/d" "$tmp/b2.tar.zst"
if [ "$code" = 0 ]; then ok backup_in_use; else not_ok backup_in_use "code $code: $(cat "$err")"; fi
echo >"$tmp/hold"
wait "$holder"

# ---- the list of those who want to be left alone ----
radio="http://radio.example"
cp -r "$tmp/w" "$tmp/ow"
ow_has() { cat "$tmp"/ow/orb-*.warc.gz | zcat | grep -ca "WARC-Target-URI: $1"; }
if [ "$(ow_has "$radio")" -gt 3 ]; then ok opt_out_has_something_to_take; else not_ok opt_out_has_something_to_take "$(ow_has "$radio")"; fi
printf '# asked to be left out\nradio.example  2026-11-02 mail of its owner\n' >"$tmp/list"
run crawl "$@" --quiet --seeds "$tmp/seeds" --opt-out "$tmp/list"
# A later crawl takes it out of the WARC files, though the data folder knew of it before.
run crawl "$@" --quiet --seeds "$tmp/seeds" --opt-out "$tmp/list" --warc "$tmp/ow"
if [ "$code" = 0 ] && [ "$(ow_has "$radio")" = 0 ] && [ "$(ow_has "http://harbour.example")" != 0 ]; then
    ok opt_out_goes_from_warc
else
    not_ok opt_out_goes_from_warc "code $code, $(ow_has "$radio") records: $(cat "$err")"
fi
if grep -raq radio.example "$tmp/ow"; then not_ok opt_out_goes_from_notes "$(grep -ral radio.example "$tmp/ow")"; else ok opt_out_goes_from_notes; fi
run export --data "$tmp/d" --all
if grep -q "\"url\":\"http://radio" "$out"; then not_ok opt_out_is_forgotten "$(grep -m 1 radio "$out")"; else ok opt_out_is_forgotten; fi
run explain --data "$tmp/d" "http://radio.example:$port/"
has opt_out_explained 'opt-out: 2026-11-02 mail of its owner' "$out"
echo 'https://*.bad' >>"$tmp/list"
complains opt_out_bad_line 3 'line 3' crawl "$@" --quiet --seeds "$tmp/seeds" --opt-out "$tmp/list"
complains opt_out_missing 4 'check the path' crawl "$@" --quiet --seeds "$tmp/seeds" --opt-out "$tmp/no-list"
: >"$tmp/list"
run crawl "$@" --quiet --seeds "$tmp/seeds" --opt-out "$tmp/list"
run forget --data "$tmp/d" --list --json
holds opt_out_ends_with_its_line '[.forgotten[].place] == ["'"$wagtail"'*"]'
"$orb_sample" --hosts-out "$tmp/hosts2" --seeds-out "$tmp/seeds2" --expected-out "$tmp/expected2" --part calm >"$tmp/sample2.out" 2>&1 &
second=$!
pids="$pids $second"
wait_for_line "$tmp/sample2.out" "port "
printf '.example\n' >"$tmp/list"
run crawl --data "$tmp/e" --hosts "$tmp/hosts2" --allow-private --delay 0 --quiet --seeds "$tmp/seeds2" --opt-out "$tmp/list"
run export --data "$tmp/e" --all
if [ ! -s "$out" ]; then ok opt_out_is_never_visited; else not_ok opt_out_is_never_visited "$(head -n 1 "$out")"; fi

# A line that is added while the crawl runs holds at once, and what is there goes when it ends.
: >"$tmp/list"
"$orb" crawl --data "$tmp/g" --hosts "$tmp/hosts" --allow-private --delay 60 --max-time 9 --quiet --seeds "$tmp/seeds" --opt-out "$tmp/list" --warc "$tmp/gw" >"$tmp/g.out" 2>&1 &
crawler=$!
pids="$pids $crawler"
for _ in $(seq 200); do
    [ "$("$orb" export --data "$tmp/g" 2>/dev/null | grep -c '"url":"http://orchard')" -gt 0 ] && break
    sleep 0.05
done
echo orchard.example >"$tmp/list"
wait "$crawler"
run export --data "$tmp/g" --all
cp "$out" "$tmp/g.all"
if grep -q '"url":"http://orchard' "$out"; then not_ok opt_out_while_crawling "$(grep -c '"url":"http://orchard' "$out") pages"; else ok opt_out_while_crawling; fi
gw_has() { cat "$tmp"/gw/orb-*.warc.gz | zcat | grep -ca "WARC-Target-URI: $1"; }
if [ "$(gw_has http://orchard)" = 0 ] && [ "$(gw_has http://harbour)" != 0 ]; then ok opt_out_while_crawling_warc; else not_ok opt_out_while_crawling_warc "$(gw_has http://orchard) records"; fi
# Whoever writes there without the list may write of it again: the next one with it looks again.
run crawl --data "$tmp/g2" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet --warc "$tmp/gw" "http://orchard.example:$port/"
if [ "$(gw_has http://orchard)" != 0 ]; then ok another_folder_writes_of_it; else not_ok another_folder_writes_of_it "$(cat "$err")"; fi
run prune --data "$tmp/g2" --opt-out "$tmp/list" --warc "$tmp/gw"
if [ "$code" = 0 ] && [ "$(gw_has http://orchard)" = 0 ]; then ok prune_takes_opt_out_from_warc; else not_ok prune_takes_opt_out_from_warc "$(gw_has http://orchard) records: $(cat "$err")"; fi
if grep -q '"url":"http://harbour' "$tmp/g.all"; then ok opt_out_leaves_others; else not_ok opt_out_leaves_others "$(cat "$tmp/g.out")"; fi

# ---- check: what the crawl goes on from, and the database ----
spoil() { # FILE OFFSET: some bytes of it
    printf '\125\252\125\252\125\252\125\252' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
for what in checkpoint journal; do
    rm -rf "$tmp/k"
    cp -r "$tmp/d" "$tmp/k"
    if [ $what = checkpoint ]; then
        spoil "$tmp/k/checkpoint" $(($(stat -c %s "$tmp/k/checkpoint") / 2))
    else
        for f in "$tmp"/k/journal-*; do spoil "$f" 3; done
    fi
    run check --data "$tmp/k" --no-repair --json
    holds "check_sees_a_damaged_$what" '.well == false and (.problems | length) > 0'
    if [ "$code" = 1 ]; then ok "check_says_no_to_a_damaged_$what"; else not_ok "check_says_no_to_a_damaged_$what" "code $code"; fi
    complains "crawl_with_a_damaged_$what" 4 'orb check' crawl --data "$tmp/k" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet --seeds "$tmp/seeds"
    run check --data "$tmp/k"
    if [ "$code" = 0 ] && grep -q "^problem .*$what" "$out"; then ok "check_gives_up_a_damaged_$what"; else not_ok "check_gives_up_a_damaged_$what" "code $code: $(cat "$out" "$err")"; fi
    run crawl --data "$tmp/k" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet --seeds "$tmp/seeds"
    if [ "$code" = 0 ]; then ok "crawl_after_a_damaged_$what"; else not_ok "crawl_after_a_damaged_$what" "$(cat "$err")"; fi
    run check --data "$tmp/k" --no-repair
    has "check_after_a_damaged_$what" 'all is well' "$out"
done
rm -rf "$tmp/k"
cp -r "$tmp/d" "$tmp/k"
for f in "$tmp"/k/contents/0*; do spoil "$f" 3; done
run check --data "$tmp/k" --no-repair --json
holds check_sees_a_damaged_head '.well == false and .lost == 0'
run check --data "$tmp/k" --json
holds check_mends_a_damaged_head '.well and .lost == 0 and (.problems | length) > 0'
rm -rf "$tmp/k"
cp -r "$tmp/d" "$tmp/k"
f=$(find "$tmp/k/contents" -name '0*' | LC_ALL=C sort | head -n 1)
spoil "$f" $(($(stat -c %s "$f") / 3))
run check --data "$tmp/k" --no-repair --json
holds check_sees_a_damaged_text '.lost <= 2 and .well == (.lost == 0)'
run check --data "$tmp/k" --json
holds check_gives_up_a_damaged_text '.well and .lost <= 2'
rm -rf "$tmp/k"
cp -r "$tmp/d" "$tmp/k"
if command -v sqlite3 >/dev/null; then
    root=$(sqlite3 "$tmp/k/orb.db" "PRAGMA wal_checkpoint(TRUNCATE)" "SELECT rootpage FROM sqlite_master WHERE name = 'page'" | tail -n 1)
    size=$(sqlite3 "$tmp/k/orb.db" 'PRAGMA page_size')
    spoil "$tmp/k/orb.db" $(((root - 1) * size + 8))
    run check --data "$tmp/k"
    if [ "$code" != 0 ] && grep -q 'orb.db' "$out" "$err" && grep -q 'backup' "$out" "$err"; then ok check_sees_a_damaged_database; else not_ok check_sees_a_damaged_database "code $code: $(cat "$out" "$err")"; fi

    if grep -q '0 records' "$out"; then not_ok check_counts_nothing_then "$(cat "$out")"; else ok check_counts_nothing_then; fi

    # What a letter that was damaged makes of an address or a key, SQLite does not see.
    damaged() { # NAME SQL PROBLEM
        rm -rf "$tmp/k"
        cp -r "$tmp/d" "$tmp/k"
        "$orb" export --all --data "$tmp/k" >"$tmp/k.before"
        sqlite3 "$tmp/k/orb.db" "$2"
        run check --data "$tmp/k" --no-repair --json
        holds "check_sees_$1" ".well == false and any(.problems[]; test(\"$3\"))"
        run check --data "$tmp/k" --json
        holds "check_mends_$1" '.well and (.problems | length) == 1'
        run check --data "$tmp/k" --json
        holds "check_mended_$1" '.well and .problems == []'
        "$orb" export --all --data "$tmp/k" >"$tmp/k.after"
        if cmp -s "$tmp/k.before" "$tmp/k.after"; then ok "as_before_$1"; else not_ok "as_before_$1" "$(diff "$tmp/k.before" "$tmp/k.after" | head -n 4)"; fi
    }
    first='(SELECT min(number) FROM page WHERE content > 0)'
    damaged a_wrong_address "UPDATE page SET url = replace(url, 'http://', 'http://x') WHERE number = $first" 'another address'
    damaged a_wrong_key_of_a_page "UPDATE page SET key = key + 1 WHERE number = $first" 'another address or key'
    damaged a_wrong_key "UPDATE page_key SET key = key + 1 WHERE number = $first; UPDATE page_key_new SET key = key + 1 WHERE number = $first" 'table of keys'
    damaged a_lost_key "DELETE FROM page_key WHERE number = $first; DELETE FROM page_key_new WHERE number = $first" 'table of keys'
    rm -rf "$tmp/k"
    cp -r "$tmp/d" "$tmp/k"
    sqlite3 "$tmp/k/orb.db" "UPDATE page SET url = url || 'x' WHERE number = (SELECT min(number) FROM page WHERE content = 0)"
    run check --data "$tmp/k" --json
    holds check_tells_what_nobody_knows '.well == false and (.problems[0] | test("1 page has another address than its own.: restore a backup"))'
fi
rm -rf "$tmp/k"

# ---- prune ----
run prune --data "$tmp/d" --json --dry-run --keep-days 1
holds prune_dry_run '.dry_run and .pages == 0'
run prune --data "$tmp/d" --json
holds prune_json '.dry_run == false and .pages == 0 and .database_bytes >= 0 and .texts_bytes >= 0'
run check --data "$tmp/d" --no-repair --json
holds check_after_prune '.well and .index_deleted == 0 and .contents == .pages'
mkdir "$tmp/d/.backup-999999999"
echo left >"$tmp/d/.backup-999999999/file"
run prune --data "$tmp/d" --json --warc "$tmp/w" --keep-warc 1
holds prune_warc '.warc_files == 1 and .warc_bytes > 1000 and .orphans_bytes > 0'
if [ -e "$tmp/d/.backup-999999999" ]; then not_ok prune_sweeps "still there"; else ok prune_sweeps; fi

# ---- pages that were taken out are new ----
# A folder as of long ago: dates in the archive of a crawl are set back.
harbour="http://harbour.example:$port"
set -- --hosts "$tmp/hosts" --allow-private --delay 0 --quiet
run crawl --data "$tmp/o0" "$@" --warc "$tmp/oldw" "$harbour/"
cat "$tmp"/oldw/orb-*.warc.gz | zcat | LC_ALL=C sed 's/^WARC-Date: 20../WARC-Date: 2001/' >"$tmp/old.warc"
run import --data "$tmp/old" --quiet "$tmp/old.warc"
run export --data "$tmp/old"
old=$(wc -l <"$out")
jq -r .url "$out" >"$tmp/old.urls"
# Whatever takes the checkpoint's place: the pages are out, and that the crawl is to know them no more cannot be written.
cp -r "$tmp/old" "$tmp/o1"
for i in $(seq 40); do mkdir "$tmp/o1/checkpoint-$(printf %08d "$i").new"; done
complains prune_that_fails_at_its_end 5 'run it again' prune --data "$tmp/o1" --keep-days 3
rmdir "$tmp"/o1/checkpoint-*.new
knows_nothing() { # NAME URL: of a page that was taken out
    run explain --data "$tmp/o1" --json "$2"
    if [ "$code" = 1 ]; then holds "$1" '.state == "unknown"'; else not_ok "$1" "code $code: $(head -c 200 "$out")"; fi
}
knows_nothing explain_before_it_is_written "$harbour/"
run prune --data "$tmp/o1" --keep-days 3 --json
holds pruned_pages_are_gone '.pages == 0'
knows_nothing explain_of_a_pruned_page "$harbour/"
run crawl --data "$tmp/o1" "$@" "$harbour/"
run export --data "$tmp/o1"
if [ "$old" -gt 50 ] && [ "$(wc -l <"$out")" = "$old" ]; then ok pruned_pages_come_back; else not_ok pruned_pages_come_back "$(wc -l <"$out") of $old pages"; fi
run forget --data "$tmp/o1" "$harbour/"
run forget --data "$tmp/o1" --undo "$harbour/"
knows_nothing explain_of_an_undone_page "$harbour/"
run check --data "$tmp/o1" --no-repair
has check_after_they_came_back 'all is well' "$out"
# The same without the command that failed: a crawl comes next.
cp -r "$tmp/old" "$tmp/o2"
for i in $(seq 40); do mkdir "$tmp/o2/checkpoint-$(printf %08d "$i").new"; done
complains prune_that_fails_again 5 'run it again' prune --data "$tmp/o2" --keep-days 3
rmdir "$tmp"/o2/checkpoint-*.new
run crawl --data "$tmp/o2" "$@" "$harbour/"
run export --data "$tmp/o2"
if [ "$(wc -l <"$out")" = "$old" ]; then ok pruned_pages_come_back_to_a_crawl; else not_ok pruned_pages_come_back_to_a_crawl "$(wc -l <"$out") of $old pages"; fi
# Those that wait to be looked at again when they go are asked for as a whole, since nothing of them is left.
cp -r "$tmp/old" "$tmp/o3"
run crawl --data "$tmp/o3" "$@" "$harbour/" # what the archive has no answer of waits; then comes a pass over the pages
run crawl --data "$tmp/o3" --hosts "$tmp/hosts" --allow-private --quiet --delay 1 --max-time 3 "$harbour/"
run prune --data "$tmp/o3" --keep-days 3 --json
holds prune_takes_what_waits ".pages > 20 and .pages < $old"
run export --data "$tmp/o3"
jq -r .url "$out" >"$tmp/stay"
run explain --data "$tmp/o3" --json "$(grep -m 1 -vxFf "$tmp/stay" "$tmp/old.urls")"
holds explain_of_what_waits '.state == "waiting"'
run crawl --data "$tmp/o3" "$@" "$harbour/"
run check --data "$tmp/o3" --no-repair --json
holds what_waits_comes_as_a_whole ".well and .pages == $old and .contents == $old"
# What a list named may be asked for when it names it no more.
echo "$wagtail*" >"$tmp/list"
run crawl --data "$tmp/o2" "$@" --opt-out "$tmp/list" "$harbour/"
: >"$tmp/list"
run crawl --data "$tmp/o2" "$@" --opt-out "$tmp/list" "${wagtail}logbook.html"
run explain --data "$tmp/o2" "${wagtail}logbook.html"
has opted_out_pages_come_back 'answer           200' "$out"

# ---- restore ----
run check "$tmp/b.tar.zst" --json
holds check_backup '.well and .files > 5 and .problems == []'
run restore "$tmp/b.tar.zst" "$tmp/r" --json
holds restore_json '.well and .rebuilt == false and .files > 5'
run export --data "$tmp/r" --all
if cmp -s "$out" "$tmp/before"; then ok restored_as_it_was; else not_ok restored_as_it_was "$(diff "$out" "$tmp/before" | head -n 2)"; fi
# A folder that is empty stays the one it is, for the shell that is in it and for the link that leads to it.
mkdir "$tmp/empty" "$tmp/linked"
ln -s linked "$tmp/link"
cd "$tmp/empty" || exit 4
run restore "$tmp/b.tar.zst" . --json
holds restore_into_the_current_folder '.well'
run export --data . --all
cd "$tmp" || exit 4
if cmp -s "$out" "$tmp/before"; then ok restored_here; else not_ok restored_here "$(ls -a "$tmp/empty")"; fi
run restore "$tmp/b.tar.zst" "$tmp/link/" --json
holds restore_into_a_link '.well'
if [ -L "$tmp/link" ] && [ -f "$tmp/linked/orb.db" ] && [ ! -e "$tmp/linked/.restoring" ]; then ok restored_at_the_link; else not_ok restored_at_the_link "$(ls -la "$tmp/linked")"; fi
mkdir -p "$tmp/left/.restoring/contents"
run restore "$tmp/b.tar.zst" "$tmp/left" --json
holds restore_after_a_kill '.well'
ln -s nowhere "$tmp/dangling"
complains restore_into_a_link_to_nothing 3 'new or empty' restore "$tmp/b.tar.zst" "$tmp/dangling"
complains restore_over_something 3 'new or empty' restore "$tmp/b.tar.zst" "$tmp/r"
run crawl --data "$tmp/r" --hosts "$tmp/hosts" --allow-private --delay 0 --seeds "$tmp/seeds" --json
holds restored_goes_on '.unchanged > 100'
run backup --data "$tmp/d" --no-index "$tmp"
file=$(ls "$tmp"/orb-2*.tar.zst)
run restore "$file" "$tmp/r2" --json
holds restore_without_index '.well and .rebuilt'
run backup --data "$tmp/e" "$tmp/b3.tar.zst"
run restore "$tmp/b3.tar.zst" "$tmp/r4" --json
holds restore_without_a_page '.well'
mkdir "$tmp/plain"
if zstd -dcq "$tmp/b.tar.zst" | tar -xf - -C "$tmp/plain" && (cd "$tmp/plain" && sha256sum -c --quiet orb-backup.sums); then ok other_tools_unpack_it; else not_ok other_tools_unpack_it "tar or sha256sum failed"; fi
head -c 20000 "$tmp/b.tar.zst" >"$tmp/cut"
run check "$tmp/cut" --json
if [ "$code" = 1 ]; then ok cut_backup_code; else not_ok cut_backup_code "code $code"; fi
holds cut_backup '.well == false and (.problems | length) == 1'
complains restore_cut 3 'use another backup' restore "$tmp/cut" "$tmp/r3"
if [ -e "$tmp/r3" ] || [ -e "$tmp/r3.restoring" ]; then not_ok cut_makes_nothing "a folder is there"; else ok cut_makes_nothing; fi

# ---- check: queues that were put away ----
serve_sample --no-sites --big 4000
set -- --data "$tmp/queue" --hosts "$tmp/hosts" --allow-private --delay 0 --json "http://big0.example:$port/p/0.html"
run crawl --pages 500 "$@"
holds crawl_puts_queues_away ".pages == 500 and $(find "$tmp/queue/frontier" -name "0*" 2>/dev/null | wc -l) > 0"
for f in "$tmp"/queue/frontier/0*; do spoil "$f" $(($(stat -c %s "$f") / 2)); done
complains crawl_with_a_damaged_queue 4 'orb check' crawl "$@"
run check --data "$tmp/queue" --no-repair --json
holds check_sees_a_damaged_queue '.well == false and (.problems[0] | contains("frontier"))'
run check --data "$tmp/queue"
if [ "$code" = 0 ]; then ok check_gives_up_a_damaged_queue; else not_ok check_gives_up_a_damaged_queue "code $code: $(cat "$out" "$err")"; fi
run crawl "$@"
holds crawl_finds_what_a_damaged_queue_had '."end" == "complete" and .queued == 0'
run export --data "$tmp/queue"
if [ "$(wc -l <"$out")" = 4000 ]; then ok all_pages_of_a_damaged_queue; else not_ok all_pages_of_a_damaged_queue "$(wc -l <"$out") pages"; fi
rm "$tmp/queue/checkpoint" # whatever took it: visits are numbered on from what the pages have
run crawl "$@"
holds visits_after_a_lost_checkpoint_count '.unchanged == 4000'
exit $failed
