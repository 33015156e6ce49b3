#!/bin/sh
# What a terminal sees: the progress line, the question for a contact.
. "$(dirname "$0")/lib.sh"

serve_sample --no-sites --big 40
on_terminal() { # COMMAND LINE: prints what the terminal got; input is standard input
    timeout 60 script -qefc "stty cols 60; $1" /dev/null
}
on_terminal "$orb crawl --data $tmp/d --hosts $tmp/hosts --allow-private --delay 60 http://big0.example:$port/p/0.html --contact x" \
    >"$out" 2>&1 </dev/null
tr '\r' '\n' <"$out" | sed "s/$(printf '\033')\\[[0-9;]*[mK]//g" >"$tmp/lines"
if grep -qE '^  [0-9]+ pages?  [0-9.]+/s  queue [0-9]+  errors 0' "$tmp/lines"; then ok progress_line; else not_ok progress_line "$(head -n 5 "$tmp/lines")"; fi
if grep -E '^  [0-9]+ pages? ' "$tmp/lines" | awk 'length($0) > 59 { exit 1 }'; then ok progress_line_fits; else not_ok progress_line_fits "too long"; fi
has summary_follows 'finished; the same command again looks for changes' "$tmp/lines"

echo me@example.org | on_terminal "$orb crawl --data $tmp/e --hosts $tmp/hosts --allow-private --delay 0 --pages 1 http://big0.example:$port/p/0.html" >"$out" 2>&1
has asks_for_a_contact 'Mail address or URL' "$out"
on_terminal "$orb crawl --data $tmp/e --hosts $tmp/hosts --allow-private --delay 0 --pages 1 http://big0.example:$port/p/0.html" >"$out" 2>&1 </dev/null
if ! grep -q 'Mail address' "$out"; then ok asks_only_once; else not_ok asks_only_once "$(head -n 3 "$out")"; fi

on_terminal "$orb import --data $tmp/i $top/tests/data/warc/example.warc" >"$out" 2>&1 </dev/null
tr '\r' '\n' <"$out" | sed "s/$(printf '\033')\\[[0-9;]*[mK]//g" >"$tmp/lines"
if grep -qE '^import: 100 %, 5.1 kB, 2 answers$' "$tmp/lines"; then ok import_progress; else not_ok import_progress "$(head -n 5 "$tmp/lines")"; fi
has import_summary_follows 'imported; orb crawl URL goes on from there' "$tmp/lines"
exit $failed
