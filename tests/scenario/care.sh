#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# kill -9 during forget, prune, backup and restore, at seeded points: what was begun is ended by whoever comes next, nothing of what is
# forgotten is left, nothing else is lost, and no half file or folder has a whole one's name. 4 points each, 16 with FULL=1.
. "$(dirname "$0")/lib.sh"
points=4
[ "${FULL:-}" ] && points=16

# Runs orb with the arguments and kills it after a while below WINDOW_MS; sets code: 137 when it was killed.
killed() { # WINDOW_MS ARG...
    random_below "$1"
    shift
    "$orb" "$@" >"$tmp/out" 2>&1 &
    pid=$!
    pids="$pids $pid"
    sleep "$(awk -v ms="$random" 'BEGIN { printf "%.3f", ms / 1000 }')"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    code=$?
    [ $code -eq 137 ] || ms=$((ms / 2 + 1)) # quicker than the one that was timed
}
took() { # ARG...: milliseconds that orb needs for it; sets ms
    from=$(date +%s%3N)
    "$orb" "$@" >"$tmp/out" 2>&1 || not_ok "undisturbed_$1" "$(tail -n 1 "$tmp/out")"
    ms=$(($(date +%s%3N) - from))
}
# Without a chain of redirects of which every crawl follows some more.
all_pages() { "$orb" export --data "$1" --all | jq -r .url | grep -v '/far/' | LC_ALL=C sort; }
is_well() { [ "$("$orb" check --data "$1" --no-repair --json | jq -r '.well and .forgotten == 0')" = true ]; }

serve_sample --part calm
crawl() { # FOLDER OPTION...
    folder=$1
    shift
    "$orb" crawl --data "$folder" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet "$@"
}
start_crawl() { # FOLDER: sets pid
    "$orb" crawl --data "$1" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet &
    pid=$!
    pids="$pids $pid"
}
crawl "$tmp/d" --warc "$tmp/w"
all_pages "$tmp/d" >"$tmp/all"
grep -v '^http://museum\.example:' "$tmp/all" >"$tmp/want"
title=$("$orb" export --data "$tmp/d" | jq -r "select(.url == \"http://museum.example:$port/\") | .title")
check a_title_to_look_for "none" [ -n "$title" ]
check it_is_there_before "\"$title\" is nowhere" grep -raqF "$title" "$tmp/d"

# ---- forget ----
cp -r "$tmp/d" "$tmp/x"
took forget --data "$tmp/x" museum.example
kills=0 bad=""
for i in $(seq "$points"); do
    rm -rf "$tmp/x" "$tmp/xw"
    cp -r "$tmp/d" "$tmp/x"
    cp -r "$tmp/w" "$tmp/xw"
    killed "$ms" forget --data "$tmp/x" --warc "$tmp/xw" museum.example
    [ $code -eq 137 ] && kills=$((kills + 1))
    # A crawl comes next, or the same command.
    if [ "$("$orb" forget --data "$tmp/x" --list --json | jq '.forgotten | length')" = 1 ] && [ $((i % 2)) -eq 0 ]; then
        crawl "$tmp/x"
    fi
    "$orb" forget --data "$tmp/x" --warc "$tmp/xw" museum.example >"$tmp/out" 2>&1 || bad="$bad; $i: $(cat "$tmp/out")"
    all_pages "$tmp/x" >"$tmp/got"
    cmp -s "$tmp/want" "$tmp/got" || bad="$bad; $i: $(diff "$tmp/want" "$tmp/got" | head -n 2)"
    is_well "$tmp/x" || bad="$bad; $i: $("$orb" check --data "$tmp/x" --no-repair)"
    grep -raqF "$title" "$tmp/x" && bad="$bad; $i: \"$title\" in $(grep -ralF "$title" "$tmp/x" | head -n 1)"
    cat "$tmp"/xw/*.warc.gz | zcat | grep -qa 'Target-URI: http://museum' && bad="$bad; $i: in WARC"
    find "$tmp/xw" -name '*.new' | grep -q . && bad="$bad; $i: $(ls "$tmp/xw")"
done
check forget_survives_kills "$kills kills$bad" [ -z "$bad" -a $kills -gt 0 ]
# The same by a list, in a crawl that is killed while it is at it.
echo museum.example >"$tmp/list"
kills=0 bad="" ms=400
for i in $(seq "$points"); do
    rm -rf "$tmp/x" "$tmp/xw"
    cp -r "$tmp/d" "$tmp/x"
    cp -r "$tmp/w" "$tmp/xw"
    killed "$ms" crawl --data "$tmp/x" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet --opt-out "$tmp/list" --warc "$tmp/xw"
    [ $code -eq 137 ] && kills=$((kills + 1))
    crawl "$tmp/x" --opt-out "$tmp/list" --warc "$tmp/xw" >"$tmp/out" 2>&1 || bad="$bad; $i: $(cat "$tmp/out")"
    cat "$tmp"/xw/*.warc.gz | zcat | grep -qa 'Target-URI: http://museum' && bad="$bad; $i: in WARC"
    find "$tmp/xw" -name '*.new' | grep -q . && bad="$bad; $i: $(ls "$tmp/xw")"
    grep -raqF "$title" "$tmp/x" && bad="$bad; $i: \"$title\" in $(grep -ralF "$title" "$tmp/x" | head -n 1)"
done
check opt_out_survives_kills "$kills kills$bad" [ -z "$bad" -a $kills -gt 0 ]
# Journals of a crawl that was killed have texts too.
rm -rf "$tmp/j"
start_crawl "$tmp/j"
has_museum() { [ "$("$orb" export --data "$tmp/j" | grep -c museum.example)" -gt 3 ]; }
await 60 has_museum
kill -9 "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
"$orb" forget --data "$tmp/j" museum.example >"$tmp/out" 2>&1
check forget_after_a_killed_crawl "$(cat "$tmp/out")" grep -q '^forgotten museum' "$tmp/out"
if grep -raqF "$title" "$tmp/j"; then not_ok no_journal_has_it "$(grep -ralF "$title" "$tmp/j")"; else ok no_journal_has_it; fi
crawl "$tmp/j"
all_pages "$tmp/j" >"$tmp/got"
check the_rest_is_crawled "$(diff "$tmp/want" "$tmp/got" | head -n 3)" cmp -s "$tmp/want" "$tmp/got"

# ---- prune ----
took prune --data "$tmp/x"
kills=0 bad=""
for i in $(seq "$points"); do
    rm -rf "$tmp/x"
    cp -r "$tmp/d" "$tmp/x"
    crawl "$tmp/x" # some of the past
    killed "$ms" prune --data "$tmp/x"
    [ $code -eq 137 ] && kills=$((kills + 1))
    "$orb" prune --data "$tmp/x" >"$tmp/out" 2>&1 || bad="$bad; $i: $(cat "$tmp/out")"
    all_pages "$tmp/x" >"$tmp/got"
    cmp -s "$tmp/all" "$tmp/got" || bad="$bad; $i: $(diff "$tmp/all" "$tmp/got" | head -n 2)"
    is_well "$tmp/x" || bad="$bad; $i: $("$orb" check --data "$tmp/x" --no-repair)"
done
check prune_survives_kills "$kills kills$bad" [ -z "$bad" -a $kills -gt 0 ]

# ---- backup and restore ----
took backup --data "$tmp/d" "$tmp/b.tar.zst"
kills=0 bad=""
for i in $(seq "$points"); do
    rm -f "$tmp/c.tar.zst"
    killed "$ms" backup --data "$tmp/d" "$tmp/c.tar.zst"
    [ $code -eq 137 ] && kills=$((kills + 1))
    [ $code -eq 137 ] && [ -e "$tmp/c.tar.zst" ] && ! "$orb" check "$tmp/c.tar.zst" >"$tmp/out" && bad="$bad; $i: $(cat "$tmp/out")"
    "$orb" backup --data "$tmp/d" "$tmp/c.tar.zst" >"$tmp/out" 2>&1 || bad="$bad; $i: $(cat "$tmp/out")"
    "$orb" check "$tmp/c.tar.zst" >"$tmp/out" || bad="$bad; $i: $(cat "$tmp/out")"
    [ -e "$tmp/c.tar.zst.partial" ] && bad="$bad; $i: a partial one is left"
    find "$tmp/d" -maxdepth 1 -name '.backup-*' | grep -q . && bad="$bad; $i: $(ls -a "$tmp/d")"
done
check backup_survives_kills "$kills kills$bad" [ -z "$bad" -a $kills -gt 0 ]
took restore "$tmp/b.tar.zst" "$tmp/r"
kills=0 bad=""
for i in $(seq "$points"); do
    rm -rf "$tmp/r"
    killed "$ms" restore "$tmp/b.tar.zst" "$tmp/r"
    [ $code -eq 137 ] && kills=$((kills + 1))
    # A folder of that name is a whole one.
    if [ -e "$tmp/r" ]; then
        all_pages "$tmp/r" >"$tmp/got"
        cmp -s "$tmp/all" "$tmp/got" || bad="$bad; $i: half a folder"
        rm -rf "$tmp/r"
    fi
    "$orb" restore "$tmp/b.tar.zst" "$tmp/r" >"$tmp/out" 2>&1 || bad="$bad; $i: $(cat "$tmp/out")"
    all_pages "$tmp/r" >"$tmp/got"
    cmp -s "$tmp/all" "$tmp/got" || bad="$bad; $i: $(diff "$tmp/all" "$tmp/got" | head -n 2)"
    [ -e "$tmp/r.restoring" ] && bad="$bad; $i: $tmp/r.restoring is left"
done
check restore_survives_kills "$kills kills$bad" [ -z "$bad" -a $kills -gt 0 ]

# ---- a backup while a crawl runs ----
live_is_well() { "$orb" check "$tmp/live.tar.zst" >"$tmp/checked"; }
rm -rf "$tmp/l"
start_crawl "$tmp/l"
has_pages() { [ "$("$orb" export --data "$tmp/l" | wc -l)" -gt 50 ]; }
await 60 has_pages
"$orb" backup --data "$tmp/l" "$tmp/live.tar.zst" >"$tmp/out" 2>&1
check backup_beside_a_crawl "$(cat "$tmp/out")" live_is_well
wait "$pid"
rm -rf "$tmp/r"
"$orb" restore "$tmp/live.tar.zst" "$tmp/r" >"$tmp/out" 2>&1
check live_backup_is_restored "$(cat "$tmp/out")" is_well "$tmp/r"
crawl "$tmp/r"
all_pages "$tmp/r" >"$tmp/got"
check live_backup_goes_on "$(diff "$tmp/all" "$tmp/got" | head -n 3)" cmp -s "$tmp/all" "$tmp/got"
exit $failed
