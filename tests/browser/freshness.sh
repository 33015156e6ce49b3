#!/bin/sh
# Freshness in a browser: how fresh copies are, now and over time, visits, the strategy, what a channel says of it; and
# what is forgotten.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/admin_lib.sh"

orb_agent=${ORB_AGENT:-$build/src/agent/orb-agent}
"$orb_sample" --spread --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" >"$tmp/sample.out" &
pids="$pids $!"
wait_for_line "$tmp/sample.out" '^port '

# ---- before anything was crawled ----
coordinate "$tmp/coord" --allow-private --hosts "$tmp/hosts"
coordinator=${pids##* }
start_browser
first_password
go "$base/freshness"
is nothing_to_keep_fresh_is_said "$(js '/no channel is in the plan yet/.test(document.getElementById("stale").textContent) && document.querySelectorAll(".plot").length === 6 && document.querySelectorAll(".plot circle, .plot rect").length === 0')" true
is nothing_is_not_all "$(text 'document.querySelector("#numbers dd").textContent')" '–'
console_is_quiet no_errors_when_there_is_nothing

# ---- channels that are crawled, and visited again ----
start_agent() { # NAME FORM
    line=$(api POST /api/v1/agents "name=$1&$2" | jq -r .join)
    ORB_AGENT_CONFIG=/dev/null "$orb_agent" --data "$tmp/$1" --join "$line" --hosts "$tmp/hosts" --allow-private --delay 0 --shards 1 >"$tmp/$1.log" 2>&1 &
    pids="$pids $!"
}
start_agent oslo 'trusted=1'
start_agent tokyo 'trusted=1'
for site in radio garden harbour; do api POST /api/v1/channels "seeds=$(grep "//$site\." "$tmp/seeds")" >/dev/null; done
api POST /api/v1/channels "seeds=$(grep '//museum\.' "$tmp/seeds")&label=%3Cimg+src%3Dx%3E" >/dev/null
cell_of() { printf '[...document.querySelectorAll("#%s tbody tr")].reduce((n, r) => n + +r.cells[%s].textContent.replace(/,/g, ""), 0)' "$1" "$2"; } # TABLE COLUMN: its sum
true_in_page channels_come_into_the_plan_by_themselves "$(cell_of ranks 1) === 4"
true_in_page what_was_just_crawled_is_fresh '(n => n >= 90 && n <= 100)(parseFloat(document.querySelector("#numbers dd").textContent))'
true_in_page sites_are_listed 'document.querySelectorAll("#sites tbody tr").length === 4'
is the_stalest_lead_to_their_channels "$(js '(l => l.length === 4 && l.every(a => /^\/channels\/[0-9a-f]{16}$/.test(a.pathname)))([...document.querySelectorAll("#stale tbody th a")])')" true
is harm_in_a_label_is_text "$(js 'document.getElementById("stale").textContent.includes("<img src=x>") && document.querySelectorAll("main img").length === 0')" true
channel=$(api GET /api/v1/channels | jq -r '[.channels[] | select(.label | startswith("radio"))][0].id')
api POST "/api/v1/channels/$channel/recheck" '' >/dev/null
true_in_page a_visit_is_counted "$(cell_of ranks 5) >= 1 && +document.querySelectorAll('#numbers dt + dd')[2].textContent >= 1"
true_in_page freshness_is_a_dot_in_its_hour_and_its_day '["fresh-hours", "fresh-days"].every(id => document.getElementById("title-" + id).closest("figure").querySelectorAll("circle").length >= 1)'
true_in_page the_visit_is_a_bar '/1 visit, (some|no)thing new/.test(document.getElementById("title-visits-hours").closest("figure").textContent)'
is numbers_for_programs "$(api GET /api/v1/freshness | jq -c '[(.ranks | map(.channels) | add), (.sites | map(.site) | sort | map(split(".")[0])), .sites_total, (.hours | length >= 1), (.days | length >= 1), (.hours[0].freshness > 0.9), (.days | map(.updated + .unchanged) | add >= 1)]')" '[4,["garden","harbour","museum","radio"],4,true,true,true,true]'
is numbers_for_prometheus "$(api GET /metrics | grep -Ec '^orb_recrawl_(freshness 0?[.0-9]+|channels 4|due [0-9]+|running [0-9]+|visits_total 1|changes_total [01])$')" 6
is nothing_is_too_wide "$(js '[...document.querySelectorAll(".plot text")].every(t => { const b = t.getBoundingClientRect(), s = t.closest("svg").getBoundingClientRect(); return b.left >= s.left - 1 && b.right <= s.right + 1; })')" true
console_is_quiet no_errors_while_it_is_live

# ---- the strategy ----
press '.more summary'
js '(document.getElementById("f-strategy").value = "iir", true)' >/dev/null
press 'form[action="/api/v1/recrawl"] button'
true_in_page the_strategy_can_be_changed 'document.getElementById("strategy").textContent === "iir" && document.querySelector(".notice.good") !== null'
is it_has_intervals "$(js '[...document.querySelectorAll("#ranks thead th")].some(t => t.textContent === "Interval")')" true
is what_was_learned_stays "$(js "$(cell_of ranks 1) === 4 && $(cell_of ranks 6) >= 1")" true

# ---- the page of a channel ----
go "$base/channels/$channel"
is a_channel_says_how_often_it_changes "$(js '/Changes\s*about every .+, between .+ and .+/.test(document.getElementById("visits").textContent)')" true
is it_says_what_came_of_visits "$(js '/1 ordered, 1 came to an end, [01] brought something new/.test(document.getElementById("visits").textContent)')" true
js '(document.querySelector("form[action$=edit]").closest("details").open = true)' >/dev/null
type_into f-weight 7.5
type_into f-at_most_every '6 h'
type_into f-at_least_every '2 days'
press 'form[action$="/edit"] button'
true_in_page weight_and_bounds_can_be_changed '/Changed/.test(document.querySelector(".notice.good").textContent) && /7\.5/.test(document.getElementById("visits").textContent)'
is they_are_changed "$(api GET "/api/v1/channels/$channel" | jq -c '[.weight, .at_most_every_ms, .at_least_every_ms, .never]')" '[7.5,21600000,172800000,false]'
js '(document.querySelector("form[action$=edit]").closest("details").open = true)' >/dev/null
type_into f-weight heavy
press 'form[action$="/edit"] button'
true_in_page a_wrong_weight_is_shown 'document.getElementById("f-weight").getAttribute("aria-invalid") === "true" && document.getElementById("f-weight").value === "heavy"'
wd POST /se/log '{"type":"browser"}' >/dev/null # what was refused is in the log

# ---- sites ----
go "$base/freshness/sites?sort=name"
is sites_are_sorted_by_name "$(text '(l => l.length === 4 && l.join() === [...l].sort().join())([...document.querySelectorAll("#sites tbody th a")].map(a => a.textContent))')" true
go "$base/freshness/sites?q=gard"
is sites_can_be_searched "$(text '[...document.querySelectorAll("#sites tbody th a")].map(a => a.textContent.split(".")[0]).join()')" garden

# ---- forgetting ----
go "$base/channels"
press 'a[href="/forgotten"]'
until_js 'location.pathname === "/forgotten"'
is nothing_is_forgotten_at_first "$(js '/Nothing is forgotten/.test(document.querySelector(".empty").textContent)')" true
press '.more summary'
type_into f-places 'ftp://x.example/'
press '#forget button'
true_in_page a_wrong_place_is_shown 'document.getElementById("f-places").getAttribute("aria-invalid") === "true"'
garden=$(grep '//garden\.' "$tmp/seeds" | sed 's,^[a-z]*://,,; s,[:/].*,,')
type_into f-places "$garden"
type_into f-why '<b>they asked</b>'
press '#forget button'
true_in_page it_has_to_be_meant 'document.getElementById("f-sure").getAttribute("aria-invalid") === "true" && document.getElementById("f-why").value === "<b>they asked</b>"'
is nothing_happened_yet "$(api GET /api/v1/forget | jq '.forgotten | length')" 0
press '#f-sure'
press '#forget button'
true_in_page a_site_is_forgotten '/Forgotten: [1-9]\d* pages/.test((document.querySelector(".notice.good") || document.body).textContent)'
is it_is_listed "$(text '(r => r.cells[0].textContent + " " + r.cells[2].textContent)(document.querySelector("tbody tr"))')" "$garden <b>they asked</b>"
is harm_in_a_reason_is_text "$(js 'document.querySelectorAll("main b").length')" 0
js '(([...document.querySelectorAll("summary")].find(s => s.textContent === "Allow again").click(), true))' >/dev/null
press '.confirm[open] button'
true_in_page it_can_be_allowed_again '/may be crawled again/.test((document.querySelector(".notice.good") || document.body).textContent) && document.querySelectorAll("tbody tr").length === 0'
go "$base/channels/$channel"
press 'a[href^="/forgotten?place="]'
true_in_page a_channel_leads_there 'location.pathname === "/forgotten" && /^radio\./.test(document.getElementById("f-places").value) && document.getElementById("forget").open'
wd POST /se/log '{"type":"browser"}' >/dev/null

# ---- what was seen outlives a restart ----
kill "$coordinator"
wait "$coordinator" 2>/dev/null
coordinate "$tmp/coord" --allow-private --hosts "$tmp/hosts"
log_in admin 'correct horse'
until_js 'location.pathname === "/"'
go "$base/freshness"
is hours_and_visits_are_still_there "$(js '/1 visit, (some|no)thing new/.test(document.getElementById("title-visits-hours").closest("figure").textContent) && document.getElementById("title-fresh-hours").closest("figure").querySelectorAll("circle").length >= 1')" true
is so_is_the_strategy "$(text 'document.getElementById("strategy").textContent')" iir
wd POST /se/log '{"type":"browser"}' >/dev/null
api POST /api/v1/recrawl strategy=off >/dev/null
go "$base/channels/$channel"
is nothing_is_visited_when_it_is_off "$(js '/Next visit\s*when a person asks for it/.test(document.getElementById("visits").textContent)')" true
go "$base/freshness"
is that_it_is_off_is_said "$(text 'document.getElementById("strategy").textContent + " " + document.getElementById("f-strategy").value')" 'off off'
api POST /api/v1/recrawl strategy=iir >/dev/null

# ---- how it looks ----
open_all='([...document.querySelectorAll("details")].forEach(d => d.open = true), true)'
for page in /freshness /freshness/sites /forgotten "/channels/$channel"; do
    name=$(printf '%s' "$page" | sed 's,/[0-9a-f]\{16\}$,one,' | tr -dc a-z)
    for mode in light dark; do
        cdp Emulation.setEmulatedMedia '{"features":[{"name":"prefers-color-scheme","value":"'$mode'"}]}' >/dev/null
        go "$base$page"
        js "$open_all" >/dev/null
        is "contrast_${mode}_$name" "$(js "$contrast")" true
    done
    cdp Emulation.setDeviceMetricsOverride '{"width":390,"height":844,"deviceScaleFactor":2,"mobile":true}' >/dev/null
    go "$base$page"
    js "$open_all" >/dev/null
    is "narrow_$name" "$(text 'innerWidth + " " + document.documentElement.scrollWidth')" '390 390'
    cdp Emulation.clearDeviceMetricsOverride '{}' >/dev/null
done
cdp Emulation.setEmulatedMedia '{"features":[]}' >/dev/null
cdp Emulation.setScriptExecutionDisabled '{"value":true}' >/dev/null
cdp Page.navigate "{\"url\":\"$base/freshness\"}" >/dev/null
for _ in $(seq 20); do
    cdp DOM.getDocument '{"depth":-1}' | grep -q FOOTER && break
    sleep 0.1
done
cdp Emulation.setScriptExecutionDisabled '{"value":false}' >/dev/null
is without_javascript_it_is_all_there "$(js 'document.querySelectorAll(".plot circle").length >= 2 && document.querySelectorAll("#ranks tbody tr").length === 5 && document.querySelectorAll("#stale tbody tr").length >= 1 && document.querySelectorAll("main form").length >= 1')" true
console_is_quiet no_errors_while_looking

# ---- a viewer ----
api POST /api/v1/people 'name=eva&role=viewer&password=only+for+looking' >/dev/null
log_out
log_in eva 'only for looking'
until_js 'location.pathname === "/"'
for page in /freshness /forgotten; do
    go "$base$page"
    is "a_viewer_has_no_forms_$(printf '%s' "$page" | tr -dc a-z)" "$(js 'document.querySelectorAll("main form").length === 0 && document.querySelectorAll("h1").length === 1')" true
done
exit $failed
