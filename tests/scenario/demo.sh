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
has_begun() { ls "$TMPDIR"/orb-demo-*/*; }
await 60 has_begun
kill -INT "$pid"
wait "$pid"
code=$?
check "demo_stopped_early (exit code $code)" "exit code $code: $(tail -n 1 "$tmp/early.err")" [ $code -eq 0 -o $code -eq 1 ]
check demo_stopped_early_leaves_nothing "left: $(ls "$TMPDIR")" [ -z "$(ls "$TMPDIR")" ]

# ---- with agents: each site goes to the nearest ----
# With namespaces in the router, without them on the recorded world; it says which. The second way is tried everywhere.
orb_lab=${ORB_LAB_PROGRAM:-$(find_program orb-lab lab)} || exit 4
near_checks() { # NAME WHAT: what it says it is
    check "demo_says_$1" "$(sed -n '/^4/,/^SITE/p' "$tmp/out")" grep -q "^This is $2" "$tmp/out"
    check "demo_$1_gives_reasons" "$(grep -c '^    why: .*measured' "$tmp/out") of 12" [ "$(grep -c '^    why: .*measured' "$tmp/out")" -eq 12 ]
    check "demo_$1_is_near" "$(grep 'sites went to' "$tmp/out")" grep -q '^12 of 12 sites went to the agent that is nearest' "$tmp/out"
    check "demo_$1_leaves_nothing" "left: $(ls -A "$TMPDIR")" [ -z "$(ls -A "$TMPDIR")" ]
}
ORB_DEMO_RECORDED=1 "$orb" demo --agents 3 --check >"$tmp/out" 2>"$tmp/err"
code=$?
check demo_recorded "exit code $code: $(tail -n 1 "$tmp/err") $(grep "^not ok\|missing\|not expected" "$tmp/out" | head -n 5)" [ $code -eq 0 ]
# What agents have fetched together is what was found, and what has no end.
pages=$(sed -n 's/^  \(athens\|bergen\|cairo\) *\([0-9]*\) pages.*/\2/p' "$tmp/out" | awk '{ n += $1 } END { print n + 0 }')
want=$(sed -n 's/.* \([0-9,]*\) were found.*/\1/p; s/.*turned back after \([0-9,]*\) pages.*/\1/p' "$tmp/out" | tr -d , | awk '{ n += $1 } END { print n + 0 }')
check pages_of_agents_add_up "$pages, and not $want" [ "$pages" -eq "$want" ]
near_checks recorded 'a recorded world'
printf 'place one 20.0.0.1\nplace two 20.0.0.2\nrtt * * 1\n' >"$tmp/two.lab"
if "$orb_lab" up --quiet "$tmp/two.lab" true 2>"$tmp/err"; then
    rmdir "$TMPDIR"/.orb-lab-* 2>/dev/null
    "$orb" demo --agents 3 --check >"$tmp/out" 2>"$tmp/err"
    code=$?
    check demo_router "exit code $code: $(tail -n 1 "$tmp/err") $(grep "^not ok\|missing\|not expected" "$tmp/out" | head -n 5)" [ $code -eq 0 ]
    near_checks router 'the router'
    # Stopped while the router runs.
    start router --agents 2
    for _ in $(seq 1200); do
        pgrep -f "^[^ ]*orb-lab .*$TMPDIR" >/dev/null && break
        sleep 0.05
    done
    sleep 1
    check demo_router_is_up "$(tail -n 1 "$tmp/router.out")" [ "$(pgrep -fc "^[^ ]*orb-lab .*$TMPDIR")" -ge 1 ]
    kill -INT "$pid"
    wait "$pid"
    code=$?
    check demo_router_stopped "exit code $code: $(tail -n 1 "$tmp/router.err")" [ $code -eq 1 ]
    check demo_router_leaves_no_process "$(pgrep -fa "$TMPDIR")" [ "$(pgrep -fc "$TMPDIR")" -eq 0 ]
    check demo_router_stopped_leaves_nothing "left: $(ls -A "$TMPDIR")" [ -z "$(ls -A "$TMPDIR")" ]
elif grep -q 'needs network namespaces' "$tmp/err"; then
    echo "# skipped: no user namespaces for us, the demo in the router was not tried"
else
    not_ok lab_comes_up "$(cat "$tmp/err")"
fi
exit $failed
