#!/bin/sh
# Nearness and the registry hierarchy in a browser: agents on the map, their networks, a move, a walk through the tree.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/admin_lib.sh"

orb_agent=${ORB_AGENT:-$build/src/agent/orb-agent}
"$orb_sample" --spread --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" >"$tmp/sample.out" &
pids="$pids $!"
wait_for_line "$tmp/sample.out" '^port '

# ---- without a hierarchy ----
coordinate "$tmp/coord" --allow-private --hosts "$tmp/hosts"
coordinator=${pids##* }
start_browser
first_password
go "$base/hierarchy"
is how_to_get_a_hierarchy_is_said "$(js '/orb hierarchy fetch[^]*orb hierarchy build/.test(document.querySelector(".empty").textContent)')" true
go "$base/near"
is an_empty_map_has_land "$(js '(b => b.width > 700 && b.height > 300)(document.querySelector(".map .land").getBBox()) && document.querySelectorAll(".map .agents circle").length === 0')" true
is that_nothing_moved_is_said "$(js '/No network has changed hands/.test(document.getElementById("moves").textContent)')" true
console_is_quiet no_errors_when_there_is_nothing
go about:blank
kill "$coordinator"
wait "$coordinator" 2>/dev/null

# ---- agents and networks ----
# Loopback addresses as if they were registered: every site has a /24 of its own.
{
    printf 'prefix\tcountry\tholder\n127.0.0.0/8\tJP\tLoop <b>Back</b>\n'
    awk '$1 ~ /^127\./ { split($1, a, "."); print "127." a[2] "." a[3] ".0/24\tJP\tSite " a[3] }' "$tmp/hosts" | LC_ALL=C sort -u
} >"$tmp/networks.tsv"
"$orb" hierarchy build --in "$tmp/networks.tsv" -o "$tmp/coord/hierarchy" >"$tmp/build.out" 2>&1 || not_ok hierarchy_is_built "$(cat "$tmp/build.out")"
coordinate "$tmp/coord" --allow-private --hosts "$tmp/hosts"
start_agent() { # NAME FORM
    line=$(api POST /api/v1/agents "name=$1&$2" | jq -r .join)
    ORB_AGENT_CONFIG=/dev/null "$orb_agent" --data "$tmp/$1" --join "$line" --hosts "$tmp/hosts" --allow-private --delay 0 --shards 1 >"$tmp/$1.log" 2>&1 &
    pids="$pids $!"
}
start_agent oslo 'latitude=59.91&longitude=10.75'
start_agent tokyo 'place=Tokyo'
api POST /api/v1/agents 'name=somewhere&place=%3Cimg+src%3Dx%3E' >/dev/null
for site in radio garden harbour; do api POST /api/v1/channels "seeds=$(grep "//$site\." "$tmp/seeds")" >/dev/null; done
log_in admin 'correct horse'
until_js 'location.pathname === "/"'
go "$base/near"
true_in_page networks_come_onto_the_map_by_themselves 'document.querySelectorAll(".map .bubbles circle").length >= 1'
is agents_are_dots_with_names "$(text '[...document.querySelectorAll(".map .names text")].map(t => t.textContent).sort().join()')" oslo,tokyo
is oslo_is_north_west_of_tokyo "$(js '(([a, b]) => a.x < b.x && a.y < b.y)(["oslo", "tokyo"].map(n => document.querySelector(`.map .agents a[href="/agents/${n}"] circle`).getBoundingClientRect()))')" true
is agents_without_a_place_are_named_beside_it "$(js '/Not on the map:.*somewhere/.test(document.getElementById("map-notes").textContent)')" true
true_in_page a_dot_tells_of_its_networks '[...document.querySelectorAll(".map .agents title")].some(t => /: \d+ networks?, [\d.]+ ms on average/.test(t.textContent))'
true_in_page the_average_is_measured '/^[\d.]+ ms$/.test(document.querySelector("#numbers dd").textContent)'
is colours_of_agents_are_in_the_table "$(js '(c => c !== "rgba(0, 0, 0, 0)" && c === getComputedStyle(document.querySelector(".map .agents .k1")).fill)(getComputedStyle(document.querySelector("#near-agents .swatch.k1"), "::before").backgroundColor)')" true
true_in_page probes_are_bars 'document.querySelectorAll(".plot rect.s1").length >= 1 || /0 probes/.test(document.getElementById("numbers").textContent)'
true_in_page round_trips_are_dots 'document.querySelectorAll(".plot circle").length >= 1'
is nothing_is_too_wide "$(js '[...document.querySelectorAll(".plot text, .map text")].every(t => { const b = t.getBoundingClientRect(), s = t.closest("svg").getBoundingClientRect(); return b.left >= s.left - 1 && b.right <= s.right + 1; })')" true

# ---- a move ----
network=$(api GET /api/v1/networks | jq -r '[.networks[] | select(.state == "owned")][0] | .network + " " + .agent')
to=oslo
[ "${network#* }" = oslo ] && to=tokyo
api POST /api/v1/networks/move "network=${network% *}&to=$to" >/dev/null
moved="[...document.querySelectorAll('#moves tbody tr')].find(r => /a person moved it/.test(r.textContent))" # Others may move by what was measured meanwhile
true_in_page a_move_is_listed_with_its_reason "!!$moved"
is it_says_from_and_to "$(text "[...$moved.cells].slice(0, 3).map(c => c.textContent).join()")" "${network% *},${network#* },$to"
true_in_page a_move_is_in_the_chart 'document.querySelectorAll(".plot rect.m5 title").length === 1 && /a person moved it/.test(document.querySelector(".legend").textContent)'
is the_land_stays "$(js 'document.querySelector(".map .land").getBBox().width > 700')" true
console_is_quiet no_errors_while_it_is_live

# ---- the tree ----
go "$base/hierarchy"
is ranges_with_networks_come_first "$(text '[...document.querySelectorAll("tbody tr")].map(r => r.cells[0].textContent + " " + r.cells[1].textContent).join()')" '127.0.0.0/8 Loop <b>Back</b>'
press 'tbody th a'
until_js '/node=1/.test(location.search)'
is it_leads_inside "$(js 'document.querySelectorAll("#inside-h ~ .scroll tbody tr").length >= 3 && [...document.querySelectorAll("#inside-h ~ .scroll tbody tr")].every(r => +r.cells[5].textContent >= 1 && /oslo|tokyo/.test(r.cells[6].textContent))')" true
press '#inside-h ~ .foot a[href*="all=1"]'
true_in_page all_of_them_can_be_seen '/all=1/.test(location.search) && /Only the \d+ with known networks/.test(document.querySelector(".foot").textContent)'
go "$base/hierarchy"
type_into f-ip "${network%.0/24*}.77"
press '.filter button'
until_js '/ip=/.test(location.search)'
is an_address_opens_its_path "$(text '[[...document.querySelectorAll(".path a")].map(a => a.textContent).join(" "), document.getElementById("node-h").textContent, document.querySelector(".notice").textContent].join("; ")')" "everything 127.0.0.0/8; ${network% *}; That address is in ${network% *}, which is crawled by $to."
go "$base/hierarchy?ip=9.9.9.9"
is what_is_nowhere_is_said "$(js '/No range holds that/.test(document.querySelector(".empty").textContent)')" true

# ---- how it looks ----
pages="/near /hierarchy /hierarchy?node=1&all=1 /hierarchy?ip=${network%.0/24*}.77"
for page in $pages; do
    name=$(printf '%s' "$page" | tr -dc a-z)
    for mode in light dark; do
        cdp Emulation.setEmulatedMedia '{"features":[{"name":"prefers-color-scheme","value":"'$mode'"}]}' >/dev/null
        go "$base$page"
        is "contrast_${mode}_$name" "$(js "$contrast")" true
    done
    cdp Emulation.setDeviceMetricsOverride '{"width":390,"height":844,"deviceScaleFactor":2,"mobile":true}' >/dev/null
    go "$base$page"
    is "narrow_$name" "$(text 'innerWidth + " " + document.documentElement.scrollWidth')" '390 390'
    cdp Emulation.clearDeviceMetricsOverride '{}' >/dev/null
done
cdp Emulation.setEmulatedMedia '{"features":[]}' >/dev/null
go "$base/near"
is harm_in_a_place_is_text "$(js 'document.querySelector("#near-agents").textContent.includes("<img src=x>") && document.querySelectorAll("main img").length === 0 && document.querySelectorAll("main b").length === 0')" true
cdp Emulation.setScriptExecutionDisabled '{"value":true}' >/dev/null
cdp Page.navigate "{\"url\":\"$base/near\"}" >/dev/null
for _ in $(seq 20); do
    cdp DOM.getDocument '{"depth":-1}' | grep -q FOOTER && break
    sleep 0.1
done
cdp Emulation.setScriptExecutionDisabled '{"value":false}' >/dev/null
is without_javascript_it_is_all_there "$(js 'document.querySelectorAll(".map .bubbles circle, .plot circle, #moves tbody tr").length >= 3')" true
console_is_quiet no_errors_while_looking
exit $failed
