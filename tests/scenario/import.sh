#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# There and back: a crawl with --warc, and its files imported into other folders, once as it is, once killed again and again. Both have
# what the crawl has, and find the same.
. "$(dirname "$0")/lib.sh"
serve_sample --part calm

crawl() { # DATA WARC OPTION...
    data=$1 warc=$2
    shift 2
    "$orb" crawl --data "$data" --warc "$warc" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json \
        --max-time 60 "$@" >"$tmp/json" 2>>"$tmp/err"
}
json_says() { jq -e "$1" "$tmp/json" >"$tmp/says" 2>&1; }
# What both must have. Left out: when (an answer is dated by its request here, by its end there), and how often it was looked at.
# Without near-duplicates: fingerprints are keyed by the folder, so pairs that are just near, or just not, differ between folders.
facts_of() { # DATA
    "$orb" export --data "$1" | jq -c '[.url, .status, .digest, .title, .lang, .canonical, .robots, .fields]' | LC_ALL=C sort
}
states_of() { # DATA: of everything that was answered
    "$orb" export --data "$1" --all --states | jq -c 'select(.status > 0 or .outcome == "unchanged") |
        [.url, .digest, .title, .redirect, .state.etag, .state.last_modified, .state.content_type, .state.depth, .state.body_bytes, .state.text_bytes]' | LC_ALL=C sort
}
same_results() { # DATA DATA
    for words in harbour 'the boats' '"of the"' 'title:history' 'lang:de und' 'site:skein.example the' knot; do
        for d in "$1" "$2"; do
            "$orb" search --similar --data "$d" --json --limit 1000 "$words" | jq -c '[.total, ([.results[].url] | sort)]' >"$d.found"
        done
        cmp -s "$1.found" "$2.found" || { echo "$words: $(cut -c 1-200 "$1.found") and $(cut -c 1-200 "$2.found")" && return 1; }
    done
}

crawl "$tmp/a" "$tmp/warc" --warc-size 300k
check import_crawled "$(tail -n 1 "$tmp/err")" [ -s "$tmp/json" ]
control '/__bump?host=harbour.example&path=/boats/goose/history.html' >/dev/null
crawl "$tmp/a" "$tmp/warc" --warc-size 300k # again: revisits, and one page that changed
"$orb" warc "$tmp/warc" >"$tmp/list" 2>"$tmp/list.err"
check import_files_are_well "code $?: $(head -n 2 "$tmp/list.err")" [ ! -s "$tmp/list.err" ]
check import_has_revisits "$(cut -f 1 "$tmp/list" | sort | uniq -c | tr '\n' ' ')" [ "$(grep -c '^revisit' "$tmp/list")" -ge 300 ]
check import_digests_are_right "$(grep -v '	whole	right	' "$tmp/list" | head -n 2)" [ "$(grep -cv '	whole	right	' "$tmp/list")" -eq 0 ]

# ---- as it is ----
"$orb" import --data "$tmp/b" --json "$tmp/warc" >"$tmp/json" 2>"$tmp/err"
code=$?
check import_ends "code $code: $(tail -n 1 "$tmp/err")" [ $code -eq 0 ]
check import_says_nothing_is_wrong "$(cat "$tmp/json")" json_says '.bad == 0 and .problems == 0 and .no_original == 0 and .taken > 1500 and .end == "complete"'
facts_of "$tmp/a" >"$tmp/a.facts"
facts_of "$tmp/b" >"$tmp/b.facts"
check import_has_what_was_crawled "$(wc -l <"$tmp/a.facts") and $(wc -l <"$tmp/b.facts") pages: $(diff "$tmp/a.facts" "$tmp/b.facts" | head -n 4)" cmp -s "$tmp/a.facts" "$tmp/b.facts"
check import_has_many "$(wc -l <"$tmp/b.facts") pages" [ "$(wc -l <"$tmp/b.facts")" -ge 900 ]
states_of "$tmp/a" >"$tmp/a.states"
states_of "$tmp/b" >"$tmp/b.states"
check import_has_their_states "$(diff "$tmp/a.states" "$tmp/b.states" | head -n 4)" cmp -s "$tmp/a.states" "$tmp/b.states"
check import_finds_the_same "$(same_results "$tmp/a" "$tmp/b")" same_results "$tmp/a" "$tmp/b"
check_index import_index_is_well "$tmp/b" "$("$orb" check --data "$tmp/a" --no-repair --json | jq .index_docs)"

# ---- again: nothing changes ----
"$orb" export --data "$tmp/b" --all --states >"$tmp/b.all"
"$orb" import --data "$tmp/b" --json "$tmp/warc" >"$tmp/json" 2>"$tmp/err"
check import_again_takes_nothing "$(cat "$tmp/json")" json_says '.taken == 0 and .known > 1500 and .fetched == 0'
"$orb" export --data "$tmp/b" --all --states >"$tmp/b.again"
check import_again_changes_nothing "$(diff "$tmp/b.all" "$tmp/b.again" | head -n 4)" cmp -s "$tmp/b.all" "$tmp/b.again"

# ---- killed in the middle, some times ----
kills=0 window=400 # ms
for _ in $(seq 30); do
    "$orb" import --data "$tmp/c" --json "$tmp/warc" >"$tmp/json" 2>>"$tmp/err" &
    pid=$!
    pids="$pids $pid"
    if [ $kills -lt 5 ]; then
        random_below $window
        sleep "0.$(printf %03d $((random + window / 8)))"
        if kill -9 $pid 2>/dev/null; then
            wait $pid 2>/dev/null
            [ $? -eq 137 ] && kills=$((kills + 1)) && continue
        fi
    fi
    wait $pid 2>/dev/null
    code=$?
    [ $kills -eq 0 ] && [ $window -gt 20 ] || break
    window=$((window / 2)) # done before it could be killed: from the beginning, and sooner
    rm -rf "$tmp/c"
done
check import_killed_ends "code $code after $kills kills: $(tail -n 1 "$tmp/err")" [ "$code" -eq 0 ]
check import_was_killed "$kills times" [ $kills -ge 1 ]
facts_of "$tmp/c" >"$tmp/c.facts"
states_of "$tmp/c" >"$tmp/c.states"
check import_killed_has_the_same "$(diff "$tmp/b.facts" "$tmp/c.facts" | head -n 4)" cmp -s "$tmp/b.facts" "$tmp/c.facts"
check import_killed_has_their_states "$(diff "$tmp/b.states" "$tmp/c.states" | head -n 4)" cmp -s "$tmp/b.states" "$tmp/c.states"
check import_killed_finds_the_same "$(same_results "$tmp/b" "$tmp/c")" same_results "$tmp/b" "$tmp/c"
queued_of() { "$orb" status --data "$1" --json | jq .queued; }
check import_killed_waits_for_the_same "$(queued_of "$tmp/b") and $(queued_of "$tmp/c")" [ "$(queued_of "$tmp/b")" = "$(queued_of "$tmp/c")" ]

# ---- a crawl goes on from there: known pages are asked for changes, not fetched anew ----
for _ in 1 2; do # the first follows what waits
    "$orb" crawl --data "$tmp/b" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --delay 0 --allow-private --json --max-time 60 >"$tmp/json" 2>"$tmp/err"
done
check import_crawl_goes_on "$(cat "$tmp/json" "$tmp/err")" json_says '.end == "complete" and .unchanged >= 900 and .queued == .queued_given_up'
pages_of "$tmp/a" >"$tmp/a.pages"
pages_of "$tmp/b" >"$tmp/b.pages"
check import_crawl_finds_nothing_new "$(diff "$tmp/a.pages" "$tmp/b.pages" | head -n 4)" cmp -s "$tmp/a.pages" "$tmp/b.pages"

# ---- through a pipe, in another compression, only a part ----
crawl "$tmp/z" "$tmp/zwarc" --warc-compression zstd --pages 100
cat "$tmp"/zwarc/*.warc.zst | "$orb" import --data "$tmp/d" --json - >"$tmp/json" 2>"$tmp/err"
check import_from_a_pipe "$(cat "$tmp/json" "$tmp/err")" json_says '.bad == 0 and .problems == 0 and .pages >= 100'
"$orb" import --data "$tmp/e" --json --include '*harbour.example*' "$tmp/warc" >"$tmp/json" 2>"$tmp/err"
check import_of_a_part "$(cat "$tmp/json" "$tmp/err")" \
    [ "$(pages_of "$tmp/e" | grep -c -v '^http://harbour.example')" -eq 0 -a "$(pages_of "$tmp/e" | wc -l)" -ge 20 ]
check import_says_what_is_out "$(cat "$tmp/json")" json_says '.out_of_scope > 500'

# ---- an archive of another tool: wget, twice, the second time with revisits in place of what it had ----
for n in 1 2; do
    dedup=""
    [ $n -eq 2 ] && dedup="--warc-dedup=$tmp/w1.cdx" && sleep 1.1 # dates are to the second
    # shellcheck disable=SC2086 # one option, or none
    wget -q -r -l 4 --no-proxy --header "Host: harbour.example:$port" -P "$tmp/w$n.files" --warc-file="$tmp/w$n" --warc-cdx $dedup "http://127.0.0.1:$port/"
done
"$orb" warc "$tmp/w1.warc.gz" "$tmp/w2.warc.gz" >"$tmp/list" 2>"$tmp/list.err"
check import_reads_wget "$(head -n 2 "$tmp/list.err"; grep -v '	whole	right	' "$tmp/list" | head -n 2)" \
    [ ! -s "$tmp/list.err" -a "$(grep -v '^revisit' "$tmp/list" | grep -cv '	whole	right	')" -eq 0 -a "$(grep -c '^revisit.*	whole	' "$tmp/list")" -ge 20 ]
"$orb" import --data "$tmp/g" --json "$tmp/w2.warc.gz" "$tmp/w1.warc.gz" >"$tmp/json" 2>"$tmp/err"
check import_takes_wget "$(cat "$tmp/json" "$tmp/err")" json_says '.bad == 0 and .problems == 0 and .no_original == 0 and .taken >= 100 and .pages >= 50 and .fetched == 2 * .pages'
digests_of() { # DATA HOST: path, digest and title of each page
    "$orb" export --data "$1" | jq -r --arg h "http://$2" 'select(.url | startswith($h)) | "\(.url[($h | length):]) \(.digest) \(.title)"' | LC_ALL=C sort
}
digests_of "$tmp/a" "harbour.example:$port" >"$tmp/a.digests"
digests_of "$tmp/g" "127.0.0.1:$port" >"$tmp/g.digests"
check import_of_wget_is_what_was_crawled "$(LC_ALL=C comm -13 "$tmp/a.digests" "$tmp/g.digests" | head -n 3)" \
    [ -s "$tmp/g.digests" -a "$(LC_ALL=C comm -13 "$tmp/a.digests" "$tmp/g.digests" | wc -l)" -le 3 ] # some change from request to request

# ---- stopped: what was taken is there, the same command goes on ----
(cat "$tmp"/warc/*.gz "$tmp"/warc/*.gz "$tmp"/warc/*.gz) >"$tmp/long.warc.gz"
"$orb" import --data "$tmp/f" --json "$tmp/long.warc.gz" >"$tmp/json" 2>"$tmp/err" &
pid=$!
pids="$pids $pid"
for _ in $(seq 100); do [ -e "$tmp/f/orb.db" ] && break; sleep 0.05; done
sleep 0.1
kill -INT $pid
wait $pid
code=$?
check import_stops "code $code: $(cat "$tmp/json" "$tmp/err")" [ $code -eq 1 -o $code -eq 0 ]
"$orb" import --data "$tmp/f" --json "$tmp/long.warc.gz" >"$tmp/json" 2>"$tmp/err"
facts_of "$tmp/f" >"$tmp/f.facts"
check import_stopped_goes_on "$(diff "$tmp/a.facts" "$tmp/f.facts" | head -n 4)" cmp -s "$tmp/a.facts" "$tmp/f.facts"
exit $failed
