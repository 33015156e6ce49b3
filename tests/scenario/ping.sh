#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A site announces that a page has changed: the page is looked at first when its channel has its turn, and nothing more is asked for than
# else. Only sites that are crawled are heard, once a minute, with a key that is found on the site.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

key=5f2b7c0e9d3a4816 # of bakery.example: docs/sample.md
budget=12            # pages of a visit; the bakery has many more

serve_sample --spread --part calm
# A channel whose changes nobody knows is visited every two hours at most: here that is some eight seconds.
start_coordinator --recrawl-time-scale 900 --recrawl-pages $budget || exit 4
start_agent athens
for site in bakery museum; do
    "$orb" channel add "http://$site.example:$port/" --data "$tmp/fleet" --label "$site" >/dev/null
done
for _ in $(seq 300); do
    [ "$("$orb" channel list --data "$tmp/fleet" --json | jq '[.channels[] | select(.fetched > 20 and .queued == 0)] | length')" = 2 ] && break
    sleep 0.2
done
sleep 2

api=http://127.0.0.1:$fleet_port/api/v1/ping
# Prints the code; what was said is in $tmp/said.
post() { curl -s -o "$tmp/said" -w '%{http_code}' --max-time 20 -H 'Content-Type: application/json; charset=utf-8' --data-binary "$1" "$api"; }
announce() { # HOST KEY PATH
    post "{\"host\":\"$1:$port\",\"key\":\"$2\",\"urlList\":[\"http://$1:$port$3\"]}"
}
expect() { # NAME CODE COMMAND...
    name=$1 want=$2
    shift 2
    code=$("$@")
    check "$name" "$code: $(cat "$tmp/said")" [ "$code" = "$want" ]
}
# Requests to the bakery since the ledger was cleared, robots.txt left out, oldest first.
asked() { control /__ledger | awk -F'\t' '$3 == "bakery.example" && $4 != "/robots.txt" { print $4 }'; }

# ---- who is not heard ----
expect a_body_that_is_none_is_400 400 post 'no JSON'
expect an_unknown_site_is_422 422 announce nowhere.example $key /
expect a_site_without_a_channel_is_422 422 announce garden.example $key /
expect urls_of_another_host_are_422 422 post "{\"host\":\"bakery.example:$port\",\"key\":\"$key\",\"urlList\":[\"http://museum.example:$port/\"]}"
expect a_key_that_is_none_is_422 422 announce bakery.example short /
expect another_method_is_405 405 curl -s -o "$tmp/said" -w '%{http_code}' -X DELETE "$api"
head -c 3000000 /dev/zero >"$tmp/large"
expect too_large_a_body_is_413 413 curl -s -o "$tmp/said" -w '%{http_code}' --max-time 20 -H 'Expect:' --data-binary "@$tmp/large" "$api"

# A wrong key is looked for once, and then known to be wrong.
expect a_new_key_is_held 202 announce museum.example 0123456789abcdef /
for _ in $(seq 100); do
    control /__ledger | grep -q 'museum.example.*/0123456789abcdef.txt' && break
    sleep 0.2
done
for _ in $(seq 50); do
    code=$(announce museum.example 0123456789abcdef /)
    [ "$code" = 403 ] && break
    sleep 0.2
done
check a_wrong_key_is_403 "$code: $(cat "$tmp/said")" [ "$code" = 403 ]
expect another_key_within_the_minute_is_429 429 announce museum.example fedcba9876543210 /
check a_wrong_key_is_looked_for_once "$(control /__ledger | grep museum.example | grep txt)" \
    [ "$(control /__ledger | grep -c 'museum.example.*/0123456789abcdef.txt')" = 1 ]

# ---- who is heard ----
visits() { "$orb" channel list --data "$tmp/fleet" --json | jq '[.channels[] | select(.label == "bakery")][0].recrawl.submissions // 0'; }
changed=/bread/ciabatta/recipe.html
visits_before=$(visits)
control "/__bump?host=bakery.example&path=$changed" >/dev/null
control /__clear >/dev/null
code=$(curl -s -G -o "$tmp/said" -w '%{http_code}' --max-time 20 --data-urlencode "url=http://bakery.example:$port$changed" --data "key=$key" "$api")
taken_at=$(date +%s)
check a_key_is_looked_for_first "$code: $(cat "$tmp/said")" [ "$code" = 202 ]
for _ in $(seq 300); do
    asked | grep -qx "$changed" && break
    sleep 0.2
done
check the_page_is_looked_at_soon "$(asked | head -n 20 | tr '\n' ' ')" [ $(($(date +%s) - taken_at)) -lt 60 ]
visits_after=$(visits)
check in_the_next_visit "the page was in the $((visits_after - visits_before)). visit" [ $((visits_after - visits_before)) -le 2 ] # one may have been ordered just before
check once_its_key_was_found "$(asked | head -n 5 | tr '\n' ' ')" [ "$(asked | grep -cx "/$key.txt")" = 1 ]
# What a visit that was under way still asked for aside, nothing of the visit came before it.
sleep 3
asked >"$tmp/asked"
before=$(awk -v p="$changed" -v k="/$key.txt" '$0 == k { n = 0; next } $0 == p { print n; exit } { n++ }' "$tmp/asked")
check it_is_the_first_of_its_visit "$before requests came before it: $(head -n 20 "$tmp/asked" | tr '\n' ' ')" [ "${before:-99}" -le $((budget - 1)) ]
expect twice_in_a_minute_is_429 429 announce bakery.example $key $changed

# No more was asked for than visits have pages, that under way when we began included, and one file for the key.
n=$(($(visits) - visits_before + 1))
check no_more_is_asked_for_than_else "$(asked | wc -l) requests in $n visits of $budget" [ "$(asked | wc -l)" -le $((n * budget + 1)) ]

# The change is in the index's folder, and the page's rate with it.
for _ in $(seq 150); do
    rate=$("$orb" export --data "$tmp/fleet" --states | jq -r "select(.url | endswith(\"$changed\")) | select(.state.changes >= 1) | .state.changes_a_day")
    [ -n "$rate" ] && break
    sleep 0.2
done
check the_change_arrives_with_its_rate "changes_a_day is '$rate'" sh -c '[ -n "$1" ] && [ "$1" != null ]' - "$rate"

# A minute later the key is known, and good for a day.
while [ $(($(date +%s) - taken_at)) -lt 75 ]; do sleep 1; done
expect a_known_key_is_200 200 announce bakery.example $key $changed
check its_key_is_not_looked_for_again "$(asked | grep -c txt)" [ "$(asked | grep -cx "/$key.txt")" = 1 ]
curl -s -H "Authorization: Bearer $(jq -r .token "$tmp/fleet/coord/admin.token")" "$(jq -r .url "$tmp/fleet/coord/admin.token")/metrics" >"$tmp/metrics"
check metrics_count_them "$(grep ping "$tmp/metrics")" grep -qx 'orb_pings_total{result="taken"} 2' "$tmp/metrics"

# ---- a sitemap that nobody but the channel names ----
"$orb" channel add "http://radio.example:$port/sets/" --scope prefix --sitemap "http://radio.example:$port/sitemap.txt" --data "$tmp/fleet" --label radio >/dev/null
for _ in $(seq 150); do
    control /__ledger | grep -q 'radio.example.*/sitemap.txt' && break
    sleep 0.2
done
control /__ledger >"$tmp/ledger"
check agents_read_the_sitemaps_of_a_channel "$(grep -c radio.example "$tmp/ledger") requests" grep -q '200.*radio.example.*/sitemap.txt' "$tmp/ledger"
exit $failed
