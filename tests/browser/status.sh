#!/bin/sh
# The status page beside a crawl that has run and one that runs; the page for site owners.
. "$(dirname "$0")/lib.sh"

"$orb_sample" --part calm --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" >"$tmp/sample.out" &
pids="$pids $!"
wait_for_line "$tmp/sample.out" '^port '
crawl() { timeout 60 "$orb" crawl --data "$tmp/data" --allow-private --hosts "$tmp/hosts" --seeds "$tmp/seeds" --quiet "$@"; }
crawl --delay 0 --contact mail@example.org >"$tmp/crawl.out" 2>&1 || { cat "$tmp/crawl.out" >&2; exit 4; }
serve "$tmp/data"
start_browser

pages=$(curl -s --max-time 10 "$base/api/v1/status" | jq .crawl.pages)
go "$base/status"
is numbers_are_those_of_the_crawl "$(text 'document.querySelector("[data-key=\"crawl.pages\"]").textContent.replace(",", "")')" "$pages"
true_in_page charts_are_shown '!document.getElementById("charts").hidden && document.querySelectorAll("canvas").length === 5'
true_in_page charts_are_drawn '["rate", "queue", "backoff", "index", "kinds"].every(id => { const c = document.getElementById("chart-" + id), d = c.width && c.getContext("2d").getImageData(0, 0, c.width, c.height).data; return d && d.some(v => v !== 0); })'
is state_is_said "$(js 'document.getElementById("state").textContent.startsWith("No crawl is running. The last one ended")')" true
before=$(js 'Chart.getChart("chart-index").data.labels.length')
true_in_page charts_grow "Chart.getChart('chart-index').data.labels.length > $before"
console_is_quiet no_errors_on_the_status_page

# While a crawl runs: looking for changes, slowly.
crawl --delay 200 --max-time 12 >"$tmp/crawl2.out" 2>&1 &
crawl_pid=$!
pids="$pids $crawl_pid"
true_in_page a_running_crawl_is_seen 'document.getElementById("state").textContent.startsWith("A crawl is running")'
true_in_page pages_a_second_are_seen 'parseFloat(document.querySelector("[data-key=\"crawl.pages_per_s\"]").textContent) > 0'
kill -INT $crawl_pid 2>/dev/null
wait $crawl_pid 2>/dev/null
true_in_page its_end_is_seen 'document.getElementById("state").textContent.startsWith("No crawl is running")'
console_is_quiet no_errors_while_it_changes

go "$base/about-this-crawler"
is owners_find_the_contact "$(text 'document.querySelector("a[href^=\"mailto:\"]").textContent')" mail@example.org
is owners_find_the_name_for_robots "$(js '[...document.querySelectorAll("pre")].some(p => p.textContent.includes("User-agent: orbweaver\nDisallow: /"))')" true
is no_template_marks_are_left "$(js '/\{\{|\}\}/.test(document.body.textContent)')" false

# The server goes away.
go "$base/status"
until_js 'Chart.getChart("chart-index") !== undefined'
kill "$(echo "$pids" | awk '{ print $2 }')" 2>/dev/null
true_in_page a_lost_server_is_said 'document.getElementById("state").textContent.startsWith("The server does not answer")'
exit $failed
