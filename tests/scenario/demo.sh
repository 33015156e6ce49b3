#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# orb demo as scripts and people run it: it answers its own questions, keeps its page up until it is stopped, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
mkdir "$tmp/tmp"
export TMPDIR="$tmp/tmp"

"$orb" demo --check >"$tmp/out" 2>"$tmp/err"
code=$?
check "demo_check ($(grep -c '^ok ' "$tmp/out") answers)" "exit code $code: $(grep -m 1 '^not ok' "$tmp/out") $(tail -n 1 "$tmp/err")" [ $code -eq 0 ]
check demo_check_asks "it asked nothing" [ "$(grep -c '^ok ' "$tmp/out")" -ge 15 ]
check demo_finds_all "$(grep 'were found' "$tmp/out")" grep -q ' 0 missing, 0 not expected' "$tmp/out"
check demo_keeps_out "$(grep 'closed to' "$tmp/out")" grep -q ': 0 requests were made to them' "$tmp/out"
check demo_leaves_nothing "left: $(ls "$TMPDIR")" [ -z "$(ls "$TMPDIR")" ]
# Terminal sequences are for terminals.
check demo_plain_lines "an escape in the output" sh -c '! grep -q "$(printf "\033")" "$1" "$2"' - "$tmp/out" "$tmp/err"

# A process started in the background by sh ignores SIGINT unless env restores it.
start() { # NAME OPTION...: sets pid
    name=$1
    shift
    env --default-signal=INT "$orb" demo "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" &
    pid=$!
    pids="$pids $pid"
}
page_of() { # NAME: waits for its page and prints the address
    for _ in $(seq 600); do
        if grep -q 'Ctrl-C' "$tmp/$1.out"; then
            sed -n 's,^  \(http://127[^ ]*/\)$,\1,p' "$tmp/$1.out" | head -n 1
            return
        fi
        sleep 0.05
    done
}

# Two at once: each has a port of its own.
start one
one=$pid
start two --data "$tmp/kept"
two=$pid
url_one=$(page_of one)
url_two=$(page_of two)
check "demo_pages_up ($url_one, $url_two)" "no address: $(tail -n 1 "$tmp/one.err" "$tmp/two.err")" [ -n "$url_one" -a -n "$url_two" ]
check demo_ports_differ "both at $url_one" [ "$url_one" != "$url_two" ]
for url in $url_one $url_two; do
    body=$(curl -s --max-time 20 "${url}search?q=%22sourdough+hydration%22")
    check "demo_page_answers" "no result at $url" sh -c 'case $1 in *hydration-table.html*) ;; *) exit 1 ;; esac' - "$body"
done
# What a result links to can be had, by a client that knows what localhost is.
link=$(curl -s --max-time 20 "${url_one}api/v1/search?q=kingfisher" | jq -r '.results[0].url')
check "demo_results_lead_somewhere ($link)" "cannot be opened" \
    sh -c 'curl -s --max-time 20 --resolve "*:${2}:127.0.0.1" "$1" | grep -q Kingfisher' - "$link" "$(echo "$link" | sed 's,.*:\([0-9]*\)/.*,\1,')"
suggested=$(sed -n 's,^      \(http://127[^ ]*search[^ ]*\)$,\1,p' "$tmp/one.out" | wc -l)
check demo_suggests_queries "$suggested queries" [ "$suggested" -ge 5 ]
kill -INT "$one"
wait "$one"
code=$?
check demo_ends_on_interrupt "exit code $code: $(tail -n 1 "$tmp/one.err")" [ $code -eq 0 ]
kill -TERM "$two"
wait "$two"
code=$?
check demo_ends_on_terminate "exit code $code: $(tail -n 1 "$tmp/two.err")" [ $code -eq 0 ]
check demo_removes_its_folder "left: $(ls "$TMPDIR")" [ -z "$(ls "$TMPDIR")" ]
check demo_keeps_a_named_folder "nothing to search" \
    sh -c '"$1" search --data "$2" --json kingfisher | jq -e ".total > 0" >/dev/null' - "$orb" "$tmp/kept"
"$orb" demo --check --data "$tmp/kept" >"$tmp/out" 2>"$tmp/err"
code=$?
check demo_spares_a_full_folder "exit code $code: $(tail -n 1 "$tmp/err")" [ $code -eq 2 ]
ORB_DATA=$tmp/kept "$orb" demo --check >"$tmp/out" 2>"$tmp/err"
check demo_does_not_use_the_folder_of_settings "$(tail -n 1 "$tmp/err")" grep -q ' 0 missing, 0 not expected' "$tmp/out"

# Stopped halfway.
start early
sleep 0.7
kill -INT "$pid"
wait "$pid"
code=$?
check "demo_stopped_early (exit code $code)" "exit code $code: $(tail -n 1 "$tmp/early.err")" [ $code -eq 0 -o $code -eq 1 ]
check demo_stopped_early_leaves_nothing "left: $(ls "$TMPDIR")" [ -z "$(ls "$TMPDIR")" ]
exit $failed
