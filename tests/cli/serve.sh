#!/bin/sh
# orb serve from the outside: its address, what it answers, how it ends, what it says when it cannot start.
. "$(dirname "$0")/lib.sh"

complains no_folder 4 'not there: crawl something into it first' serve --data "$tmp/none"
mkdir "$tmp/data"
complains bad_listen 2 'write ADDR:PORT, [ADDR]:PORT or PORT' serve --data "$tmp/data" --listen nonsense
complains bad_port 2 'not an address' serve --data "$tmp/data" --listen 127.0.0.1:70000
complains foreign_address 4 'not an address of this machine' serve --data "$tmp/data" --listen 192.0.2.1:0
complains bad_public_url 2 'write https://HOST/' serve --data "$tmp/data" --listen 127.0.0.1:0 --public-url search.example
complains no_json 2 'not an option of this command' serve --json

# Starts the server with the options given; sets url, serve_pid.
start() {
    : >"$tmp/serve.out"
    "$orb" serve --listen 127.0.0.1:0 "$@" >"$tmp/serve.out" 2>"$tmp/serve.err" &
    serve_pid=$!
    pids="$pids $serve_pid"
    wait_for_line "$tmp/serve.out" '^http://'
    url=$(sed -n '1s,/$,,p' "$tmp/serve.out")
}
get() { curl -s --max-time 20 "$@" >"$out" 2>"$err"; }
answers() { # NAME CODE ARG...
    name=$1 want=$2
    shift 2
    got=$(curl -s --max-time 20 -o "$out" -w '%{http_code}' "$@")
    if [ "$got" = "$want" ]; then ok "$name"; else not_ok "$name" "status $got, want $want"; fi
}

# A folder with nothing in it.
start --data "$tmp/data"
answers health 200 "$url/healthz"
answers start_page_without_index 200 "$url/"
has says_how_to_begin "orb crawl --data" "$out"
answers search_without_index 503 "$url/api/v1/search?q=x"
holds search_without_index_says_so '.error.code == "no_index"'
answers status_without_crawl 200 "$url/api/v1/status"
holds status_without_crawl_is_null '.crawl == null and .index == null and .version == 1'
complains port_is_taken 4 'the port is taken: stop what has it, or give --listen with another' serve --data "$tmp/data" --listen "${url#http://}"
answers rebinding_is_refused 421 -H 'Host: rebound.example' "$url/"
has rebinding_advice '--public-url' "$out"

# A crawl into the same folder while it is served: found within seconds.
serve_sample --part calm
run crawl --data "$tmp/data" --allow-private --delay 0 --hosts "$tmp/hosts" --seeds "$tmp/seeds" --contact owner@example.org --quiet
if [ "$code" = 0 ]; then ok crawl_beside_the_server; else not_ok crawl_beside_the_server "code $code: $(tail -n 1 "$err")"; fi
for _ in $(seq 50); do
    get "$url/api/v1/search?q=example&limit=3"
    jq -e '.total > 0' "$out" >/dev/null 2>&1 && break
    sleep 0.1
done
holds what_was_crawled_is_found '.total > 0 and (.results | length) == 3 and (.results[0].url | startswith("http://"))'
cp "$out" "$tmp/by_api"
run search --data "$tmp/data" --json --limit 3 example
if [ "$(jq -c '[.total, [.results[].url]]' "$out" 2>/dev/null)" = "$(jq -c '[.total, [.results[].url]]' "$tmp/by_api")" ]; then
    ok api_and_command_agree
else
    not_ok api_and_command_agree "$(head -c 200 "$out")"
fi
for _ in $(seq 50); do
    get "$url/api/v1/status"
    jq -e '.crawl.pages > 0 and .index.docs > 0' "$out" >/dev/null 2>&1 && break
    sleep 0.1
done
holds status_shows_crawl_and_index '.crawl.running == false and .crawl.pages > 0 and .index.docs > 0 and (.crawl.errors_by_kind | type) == "object"'
answers metrics 200 "$url/metrics"
# The text format: each line a comment or `name{labels} number`.
if grep -vE '^(# (HELP|TYPE) [a-z_]+ .*|[a-z_]+(\{[a-z]+="[^"\\]*"\})? [0-9.e+-]+)$' "$out" >"$tmp/odd"; then
    not_ok metrics_are_well_formed "$(head -n 1 "$tmp/odd")"
else
    ok metrics_are_well_formed
fi
answers about 200 "$url/about-this-crawler"
has about_names_the_contact owner@example.org "$out"
answers results_page 200 "$url/search?q=example"
has results_have_no_inline_script '<script src="/static/' "$out"
if grep -qE '<script>|<style| style=| on[a-z]+=' "$out"; then not_ok nothing_inline "inline script or style"; else ok nothing_inline; fi

kill -TERM "$serve_pid"
wait "$serve_pid"
code=$?
if [ $code = 0 ]; then ok ends_on_a_signal; else not_ok ends_on_a_signal "code $code"; fi

# Many at once, with few allowed: all are answered, one way or the other.
start --data "$tmp/data" --query-rate 1
i=0
while [ $i -lt 150 ]; do
    i=$((i + 1))
    echo "url = \"$url/api/v1/search?q=example&offset=$i\"" && echo "output = /dev/null"
done >"$tmp/many"
codes=$(curl -s --no-progress-meter --max-time 60 -Z --parallel-max 20 -K "$tmp/many" -w '%{http_code}\n' | sort | uniq -c | awk '{ printf "%s%s", sep, $2; sep = "," }')
if [ "$codes" = 200,429 ]; then ok too_many_are_told; else not_ok too_many_are_told "codes $codes"; fi
exit $failed
