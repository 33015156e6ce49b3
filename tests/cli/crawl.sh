#!/bin/sh
# orb crawl: what it says and how it ends.
. "$(dirname "$0")/lib.sh"

complains not_a_url 3 'not a URL' crawl nothing
complains not_a_web_page 3 'only http and https' crawl mailto:a@example.org
complains bad_port 3 'browsers refuse' crawl http://example.org:25/
complains a_password_in_a_url 3 'crawl example.org:8080/x: a name and password' crawl https://user:pass@example.org:8080/x
complains a_proxy_of_no_kind 2 '--proxy: not the address of a proxy: write' crawl --proxy foo://u:secret@x http://a.example/
complains a_proxy_of_no_port 2 '--proxy: not the address of a proxy: write' crawl --proxy http://u:secret@x:99999 http://a.example/
complains bad_pattern 3 'crawl: ' crawl --include 're:(' http://example.org/
complains no_seed_file 4 'read ' crawl --seeds "$tmp/nothing"
printf '# none\n\n' >"$tmp/none"
complains empty_seed_file 3 'no start page' crawl --seeds "$tmp/none"
printf 'http://a.example/\n\nnot good\n' >"$tmp/bad"
complains bad_line_in_seed_file 3 'line 3: not good: not a URL' crawl --seeds "$tmp/bad"
complains bad_resolver 2 '--resolver' crawl --resolver dns.example http://example.org/
complains no_hosts_file 4 'read ' crawl --hosts "$tmp/nothing" http://example.org/
complains no_ca_file 4 '--ca-file' crawl --ca-file "$tmp/nothing" https://example.org/
complains no_log 4 'open log' crawl --log "$tmp/nothing/log" http://example.org/ --data "$tmp/d0"
if [ ! -e orb-data ]; then ok makes_no_folder_for_bad_input; else not_ok makes_no_folder_for_bad_input "there it is"; fi
: >"$tmp/file"
complains data_is_a_file 4 'open data folder' crawl --data "$tmp/file" --quiet http://127.0.0.1:2/ --allow-private

# Nothing can be fetched.
complains no_such_host 4 'crawl http://nosuch.invalid/: no such host' crawl --data "$tmp/d1" --quiet http://nosuch.invalid/
complains private_address 1 '--allow-private' crawl --data "$tmp/d2" --quiet http://127.0.0.1:8099/
complains no_connection 4 'no connection' crawl --data "$tmp/d3" --quiet --allow-private http://127.0.0.1:2/

# A good crawl, twice.
serve_sample --no-sites --big 60
site=http://big0.example:$port/p/0.html
set -- --data "$tmp/d" --hosts "$tmp/hosts" --allow-private --delay 0 --contact me@example.org
run crawl "$@" --json "$site"
holds json '.pages == 60 and .fetched == 60 and .errors == 0 and .end == "complete" and .pass == 1'
holds json_fields 'has("unchanged") and has("bytes") and has("seconds") and has("pages_per_s") and has("peak_rss_bytes")'
if [ "$code" = 0 ]; then ok done_is_0; else not_ok done_is_0 "code $code"; fi
if [ ! -s "$err" ]; then ok says_nothing_when_all_is_well; else not_ok says_nothing_when_all_is_well "$(cat "$err")"; fi
run crawl "$@" "$site"
has summary_pages 'pages               60' "$out"
has summary_end 'looks for changes' "$out"
run crawl "$@" --quiet "$site"
if [ ! -s "$out" ] && [ ! -s "$err" ]; then ok quiet_is_quiet; else not_ok quiet_is_quiet "$(cat "$out" "$err")"; fi

# Limits, seeds from elsewhere, patterns.
set -- --hosts "$tmp/hosts" --allow-private --delay 0 --json
run crawl --data "$tmp/d4" "$@" --pages 10 --per-host 1 "$site"
holds page_limit '.end == "pages" and .pages >= 10 and .pages < 20'
run crawl --data "$tmp/d4" "$@" "$site"
holds goes_on '.end == "complete" and .pages == 60 and .resumed >= 10'
echo "$site" | timeout 60 "$orb" crawl --data "$tmp/d5" "$@" --depth 0 --seeds - >"$out" 2>"$err"
holds depth_and_seeds_from_standard_input '.pages == 1'
run crawl --data "$tmp/d6" "$@" --exclude '*/p/1*' "$site"
holds exclude '.pages == 49'
run crawl --data "$tmp/d7" "$@" --include "re:/p/[0-9]\\.html" "$site"
holds include '.pages == 10'
# What waits, and what is known, is not asked for any more when it is left out later.
run crawl --data "$tmp/later" "$@" --pages 20 --per-host 1 "$site"
matching() { "$orb" export --data "$tmp/later" --states | jq -s '[.[] | select(.url | test("/p/[1-4]"))] | "\(length) \(map(.state.visits) | add)"'; }
before=$(matching)
run crawl --data "$tmp/later" "$@" --exclude 're:/p/[1-4]' "$site"
holds exclude_later_ends '.end == "complete" and .pages < 60'
run crawl --data "$tmp/later" "$@" --exclude 're:/p/[1-4]' "$site"
if [ "$before" = "$(matching)" ]; then ok exclude_later; else not_ok exclude_later "pages and visits: $before, then $(matching)"; fi
run crawl --data "$tmp/later" "$@" "$site"
holds exclude_no_more '.end == "complete" and .pages == 60'
# A start page over HTTPS where only HTTP is spoken costs itself, not the host.
printf '%s\n' "https://big0.example:$port/p/0.html" "$site" >"$tmp/both"
run crawl --data "$tmp/both-data" "$@" --max-time 60s --seeds "$tmp/both"
holds a_dead_scheme_costs_itself '.end == "complete" and .pages == 60 and .errors == 1'
run crawl --data "$tmp/d8" "$@" --delay 200 --max-time 1s "$site"
holds time_limit '.end == "time" and .pages < 60'
run crawl --data "$tmp/d8" "$@" --log "$tmp/log" --log-level debug "$site"
if grep -qE '^20[0-9-]*T[0-9:.]*Z (debug|info) ' "$tmp/log"; then ok log_file; else not_ok log_file "$(head -n 2 "$tmp/log")"; fi

# Interrupted.
timeout -s INT 4 "$orb" crawl --data "$tmp/d9" --hosts "$tmp/hosts" --allow-private --delay 300 "$site" >"$out" 2>"$err"
has interrupted_says_how_to_go_on 'stopped; run the same command to go on' "$out"
"$orb" crawl --data "$tmp/d9" --hosts "$tmp/hosts" --allow-private --delay 300 "$site" >"$tmp/first.out" 2>&1 &
first=$!
pids="$pids $first"
for _ in $(seq 600); do
    [ "$("$orb" status --data "$tmp/d9" --json 2>/dev/null | jq .pid)" = "$first" ] && break
    sleep 0.1
done
complains folder_in_use 4 "in use by process $first" crawl --data "$tmp/d9" --quiet --hosts "$tmp/hosts" --allow-private "$site"
run status --data "$tmp/d9" --json
holds status_while_running ".running and .pid == $first"
kill -INT "$first"
wait "$first"
if [ $? = 1 ]; then ok interrupted_is_1; else not_ok interrupted_is_1 "another code"; fi

# The contact is kept.
run crawl --data "$tmp/d10" --hosts "$tmp/hosts" --allow-private --delay 0 --pages 1 --contact me@example.org "$site"
run crawl --data "$tmp/d10" --hosts "$tmp/hosts" --allow-private --delay 0 --pages 1 "$site"
if ! grep -q 'no contact' "$err"; then ok contact_is_kept; else not_ok contact_is_kept "$(cat "$err")"; fi

# A certificate that nobody knows.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
openssl s_server -www -accept 127.0.0.1:0 -key "$tmp/key.pem" -cert "$tmp/cert.pem" >"$tmp/tls.out" 2>&1 &
pids="$pids $!"
wait_for_line "$tmp/tls.out" ACCEPT
tls_port=$(sed -n 's/^ACCEPT .*://p' "$tmp/tls.out")
echo "127.0.0.1 localhost" >"$tmp/local"
set -- --hosts "$tmp/local" --allow-private --delay 0 --quiet --pages 1 "https://localhost:$tls_port/"
complains bad_certificate 4 'bad certificate' crawl --data "$tmp/d11" "$@"
has bad_certificate_hint '--ca-file' "$err"
run crawl --data "$tmp/d12" --ca-file "$tmp/cert.pem" "$@"
if [ "$code" = 0 ]; then ok ca_file; else not_ok ca_file "code $code: $(cat "$err")"; fi
run crawl --data "$tmp/d13" --insecure "$@"
if [ "$code" = 0 ]; then ok insecure; else not_ok insecure "code $code: $(cat "$err")"; fi
# Nothing comes for a while: people want to know why.
serve_sample --part sites
run crawl --data "$tmp/d14" --hosts "$tmp/hosts" --allow-private --max-time 6s "http://closed.example:$port/"
has why_it_waits 'orb: closed.example: robots.txt answers with a server error: asked again later' "$err"

# Nothing came of it, in other ways than that there is no such page.
set -- --data "$tmp/d15" --hosts "$tmp/hosts" --allow-private --delay 0 --quiet
complains no_such_page 1 'no such page: check the address' crawl "$@" "http://museum.example:$port/nothing/here"
complains circle 1 'redirects in a circle: it may want a cookie' crawl "$@" "http://museum.example:$port/round/a"
"$orb" serve --data "$tmp/d" --listen 127.0.0.1:0 >"$tmp/serve.out" 2>"$tmp/serve.err" & # refuses hosts that it is not
pids="$pids $!"
wait_for_line "$tmp/serve.out" '^http://'
refusing=http://rebound.example:$(sed -n '1s,.*:\([0-9]*\)/$,\1,p' "$tmp/serve.out")/
echo '127.0.0.1 rebound.example' >"$tmp/rebound"
complains refusal 1 "crawl $refusing: the server answers 421: " crawl --data "$tmp/d16" --hosts "$tmp/rebound" --allow-private --quiet "$refusing"
# One of its addresses is dead. The other has answered.
printf '127.0.0.9 rebound.example\n127.0.0.1 rebound.example\n' >"$tmp/rebound"
complains what_was_answered_counts 1 'the server answers 421' crawl --data "$tmp/d17" --hosts "$tmp/rebound" --allow-private --quiet "$refusing"
exit $failed
