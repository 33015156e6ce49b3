#!/bin/sh
# The coordinator's administration in a browser: the first password, an agent, a channel, roles, and those who mean harm.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/admin_lib.sh"

orb_agent=${ORB_AGENT:-$build/src/agent/orb-agent}
"$orb_sample" --spread --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" >"$tmp/sample.out" &
pids="$pids $!"
wait_for_line "$tmp/sample.out" '^port '
coordinate "$tmp/coord" --allow-private --hosts "$tmp/hosts"
start_browser

# ---- the first one ----
go "$base/"
is strangers_come_to_the_login "$(text 'location.pathname')" /login
go "$base/setup?key=wrongwrongwrongwrongwr"
is a_wrong_link_is_over "$(js '/over/.test(document.querySelector("h1").textContent) && !document.querySelector("main form")')" true
go "$link"
is the_link_welcomes "$(text 'document.querySelector("h1").textContent')" Welcome
type_into f-password 'correct horse'
type_into f-again 'correct mare 1'
press 'main form button'
true_in_page two_passwords_must_be_the_same '/differ/.test(document.querySelector(".notice.bad").textContent) && document.getElementById("f-name").value === "admin"'
is passwords_are_not_sent_back "$(text 'document.getElementById("f-password").value + "|" + document.getElementById("f-again").value')" '|'
type_into f-password 'correct horse'
type_into f-again 'correct horse'
press 'main form button'
true_in_page a_password_opens_the_overview 'location.pathname === "/" && document.querySelector("h1").textContent === "Overview"'
is the_cookie_is_hidden_from_scripts "$(text 'document.cookie')" ''
true_in_page charts_are_drawn 'document.querySelectorAll("canvas").length === 7 && [...document.querySelectorAll("canvas")].every(c => c.checkVisibility() && c.width && c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v !== 0))'
before=$(js 'Chart.getChart("chart-rate").data.labels.length')
true_in_page charts_grow "Chart.getChart('chart-rate').data.labels.length > $before"
go "$link"
is the_link_works_once "$(js '/over/.test(document.querySelector("h1").textContent)')" true
wd POST /se/log '{"type":"browser"}' >/dev/null # the pages that were refused are in the log

# ---- an agent ----
go "$base/agents"
is no_agents_is_said "$(js '/no agents yet/.test(document.querySelector(".empty").textContent)')" true
press 'a[href="/agents/new"]'
until_js 'location.pathname === "/agents/new"'
type_into f-name nicosia-1
type_into f-place 'Nicosia <img src=x onerror=alert(1)>'
type_into f-hours 'mon-fry 20:00-06:00'
type_into f-zone Europe/Athens
type_into f-bytes_a_day '10 GB'
press '#f-idle_only'
press '.wide-form button'
true_in_page a_wrong_hour_is_shown_with_the_form 'document.querySelector(".notice.bad") !== null && document.getElementById("f-name").value === "nicosia-1" && document.getElementById("f-idle_only").checked'
is what_is_wrong_stands_next_to_the_field "$(text '[...document.querySelectorAll(".wrong")].map(w => [w.id, w.parentNode.querySelector("input").id, w.textContent.includes("mon-fry")].join()).join(";")')" e-hours,f-hours,true
is the_wrong_field_is_told_apart "$(text '(f => [f.getAttribute("aria-invalid"), f.getAttribute("aria-describedby"), document.activeElement === f].join())(document.getElementById("f-hours"))')" 'true,e-hours h-hours,true'
wd POST /se/log '{"type":"browser"}' >/dev/null
type_into f-hours 'mon-fri 20:00-06:00'
press '.wide-form button'
true_in_page the_line_to_join_is_shown 'location.pathname === "/agents/nicosia-1" && /^orb-agent --join orb\+http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}#[0-9a-f]{64}$/.test(document.getElementById("join-line").textContent)'
is the_line_can_be_copied "$(js 'document.querySelector("[data-copy]").checkVisibility()')" true
is how_long_it_lasts_is_said "$(js '/It works once, for the next 5\d min/.test(document.querySelector(".joinbox").textContent)')" true
js '(document.getElementById("main").focus(), true)' >/dev/null
keys "$TAB$TAB"
is the_keyboard_reaches_the_copy_button "$(js 'document.activeElement.matches("[data-copy]") && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2')" true
keys "$ENTER"
true_in_page the_keyboard_copies '/^Copied|^Selected/.test(document.querySelector("[data-copy]").textContent)'
line=$(text 'document.getElementById("join-line").textContent')
go "$base/agents/nicosia-1"
is the_line_stays_while_it_is_good "$(text 'document.getElementById("join-line").textContent')" "$line"
is settings_are_kept "$(api GET /api/v1/agents/nicosia-1 | jq -c '[.hours, .limits.bytes_a_day, .limits.idle_only, .state]')" '["mon-fri 20:00-06:00 Europe/Athens",10000000000,true,"invited"]'
is harm_in_a_place_is_text "$(js 'document.querySelectorAll("main img").length === 0 && document.getElementById("agent-state").textContent.includes("<img src=x onerror=alert(1)>")')" true
js '(document.querySelector("form[action$=change]").closest("details").open = true)' >/dev/null
type_into f-bytes_per_s '500 kB'
press 'form[action$="/change"] button'
true_in_page limits_can_be_changed '/Changed/.test(document.querySelector(".notice.good").textContent)'
is limits_are_changed "$(api GET /api/v1/agents/nicosia-1 | jq -c '[.limits.bytes_per_s, .limits.bytes_a_day, .hours]')" '[500000,10000000000,"mon-fri 20:00-06:00 Europe/Athens"]'
go "$base/agents"
true_in_page agents_are_listed 'document.querySelector("tbody th a").textContent === "nicosia-1" && document.querySelector(".state").textContent === "invited"'
api POST /api/v1/agents 'name=athens-1' >/dev/null
true_in_page the_table_is_live 'document.querySelectorAll("tbody tr").length === 2'
go "$base/agents/athens-1"
is removing_is_asked_first "$(js '![...document.querySelectorAll("button")].find(b => b.textContent === "Yes: Remove").checkVisibility()')" true
js '(([...document.querySelectorAll("summary")].find(s => s.textContent === "Remove").click(), true))' >/dev/null
js '(([...document.querySelectorAll("button")].find(b => b.textContent === "Yes: Remove").click(), true))' >/dev/null
true_in_page an_agent_can_be_removed 'location.pathname === "/agents" && document.querySelectorAll("tbody tr").length === 1'

# ---- a channel ----
go "$base/channels"
press '.more summary'
type_into f-seeds 'ftp://nothing.example/'
press '.wide-form button'
true_in_page a_wrong_address_is_shown '/no http or https/.test(document.querySelector(".notice.bad").textContent) && document.getElementById("f-seeds").value === "ftp://nothing.example/"'
wd POST /se/log '{"type":"browser"}' >/dev/null
type_into f-seeds 'http://127.0.0.1:9/'
type_into f-label '"><script>alert(2)</script>'
press '.wide-form button'
true_in_page a_channel_is_added 'document.querySelectorAll("tbody tr").length === 1'
is harm_in_a_label_is_text "$(js 'document.querySelector("tbody th a").textContent === "\"><script>alert(2)</script>" && document.querySelectorAll("main script").length === 0')" true
press 'tbody th a'
true_in_page a_channel_has_a_page '/^\/channels\/[0-9a-f]{16}$/.test(location.pathname) && /127\.0\.0\.1:9/.test(document.querySelector("#set-h + dl").textContent)'
press 'form[action$="/pause"] button'
true_in_page a_channel_can_be_paused '/paused/.test(document.getElementById("channel-state").textContent)'
for page in / /networks /near /freshness /forgotten /hierarchy /programs /people; do
    go "$base$page"
    is "opens_$(printf '%s' "$page" | tr -dc a-z)" "$(js 'document.querySelectorAll("h1").length === 1 && document.querySelector(".menu [aria-current]") !== null')" true
done
console_is_quiet no_errors_while_administering

# ---- an agent that works ----
line=$(api POST /api/v1/agents name=cairo | jq -r .join)
ORB_AGENT_CONFIG=/dev/null "$orb_agent" --data "$tmp/cairo" --join "$line" --hosts "$tmp/hosts" --allow-private --delay 0 --shards 1 >"$tmp/cairo.log" 2>&1 &
pids="$pids $!"
for site in radio garden; do api POST /api/v1/channels "seeds=$(grep "//$site\." "$tmp/seeds")" >/dev/null; done
go "$base/agents/cairo"
true_in_page its_page_is_live 'document.querySelectorAll("#agent-work tbody tr").length >= 2'

# ---- how it looks ----
channel=$(api GET /api/v1/channels | jq -r '[.channels[] | select(.label | startswith("radio"))][0].id')
pages="/ /agents /agents/new /agents/nicosia-1 /agents/cairo /channels /channels/$channel /networks /near /freshness /forgotten /hierarchy /programs /people"
open_all='([...document.querySelectorAll("details")].forEach(d => d.open = true), true)'
named='[...document.querySelectorAll("a, button, select, textarea, summary, input:not([type=hidden])")].filter(e => !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length))).map(e => e.outerHTML).join()'
twice='[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()'
ordered='(l => l.every((n, i) => i === 0 || n <= l[i - 1] + 1))([...document.querySelectorAll("h1, h2, h3")].map(h => +h.tagName[1]))'
for page in $pages; do
    name=$(printf '%s' "$page" | sed 's,/[0-9a-f]\{16\}$,one,' | tr -dc a-z)
    cdp Emulation.setEmulatedMedia '{"features":[{"name":"prefers-color-scheme","value":"light"}]}' >/dev/null
    go "$base$page"
    js "$open_all" >/dev/null
    is "contrast_light_$name" "$(js "$contrast")" true
    is "names_ids_headings_$name" "$(text "[$named, $twice, $ordered].join('|')")" '||true'
    cdp Emulation.setEmulatedMedia '{"features":[{"name":"prefers-color-scheme","value":"dark"}]}' >/dev/null
    is "contrast_dark_$name" "$(js "$contrast")" true
    cdp Emulation.setDeviceMetricsOverride '{"width":390,"height":844,"deviceScaleFactor":2,"mobile":true}' >/dev/null
    go "$base$page" # again: a narrow window is what a phone begins with
    js "$open_all" >/dev/null
    is "narrow_$name" "$(text 'innerWidth + " " + document.documentElement.scrollWidth')" '390 390'
    cdp Emulation.clearDeviceMetricsOverride '{}' >/dev/null
done
cdp Emulation.setEmulatedMedia '{"features":[]}' >/dev/null
go "$base/agents"
keys "$TAB$ENTER$TAB"
true_in_page keyboard_skips_to_the_content 'document.activeElement.closest("main") !== null'
cdp Emulation.setScriptExecutionDisabled '{"value":true}' >/dev/null
cdp Page.navigate "{\"url\":\"$base/agents/nicosia-1\"}" >/dev/null
for _ in $(seq 20); do
    cdp DOM.getDocument '{"depth":-1}' | grep -q FOOTER && break
    sleep 0.1
done
seen() { # SELECTOR: is it drawn? Asked of the browser, since scripts are off
    root=$(cdp DOM.getDocument '{}' | jq .root.nodeId)
    node=$(cdp DOM.querySelector "$(jq -n --argjson r "$root" --arg s "$1" '{nodeId: $r, selector: $s}')" | jq .nodeId)
    cdp DOM.getBoxModel "{\"nodeId\":$node}" | jq -r 'if .model.width then "seen" else "not seen" end'
}
is without_javascript_there_is_no_copy_button "$(seen '[data-copy]')" 'not seen'
is without_javascript_there_is_the_line "$(seen '#join-line')" seen
cdp Emulation.setScriptExecutionDisabled '{"value":false}' >/dev/null
is without_javascript_there_are_all_actions "$(js 'document.querySelectorAll("main form").length > 2')" true
console_is_quiet no_errors_while_looking

# ---- what it did ----
until_quiet() {
    for _ in $(seq 100); do
        api GET /api/v1/agents/cairo | jq -e '.errors >= 2 and .queue == 0 and .pages > 100' >/dev/null && return
        sleep 0.2
    done
}
until_quiet
go "$base/agents/cairo"
kinds=$(api GET /api/v1/agents/cairo | jq -c '[.errors, .errors_by_kind.http_5xx, .errors_by_kind.gone]')
is errors_come_with_their_kinds "$kinds" '[2,2,3]'
cells='(k => [...document.querySelector("#errors tr[data-kind=" + k + "]").cells].map(c => c.textContent))'
true_in_page errors_by_kind_of_an_agent "(c => c[2] === '2' && c[3] === '100 %')($cells('http_5xx')) && $cells('gone')[2] === '3' && $cells('timeout')[2] === '0'"
true_in_page the_chart_of_its_errors "(c => c && c.data.datasets.length === 1 && c.data.datasets[0].label === 'HTTP 5xx' && Math.max(...c.data.datasets[0].data) > 0)(Chart.getChart('chart-errors'))"
go "$base/"
true_in_page errors_by_kind_of_all "$cells('http_5xx')[2] === '2' && Chart.getChart('chart-errors').data.datasets.some(d => d.label === 'HTTP 5xx' && Math.max(...d.data) > 0)"
true_in_page charts_say_the_last_value '/\d \/s$/.test(document.getElementById("last-rate").textContent) && /crawled .* sent /.test(document.getElementById("last-bytes").textContent.replace("sent", " sent "))'
is kinds_are_metrics "$(api GET /metrics | grep -c '^orb_agent_errors_by_kind_total{agent="cairo",kind="http_5xx"} 2$')" 1

# What is live stays out of the way.
js '(document.getSelection().selectAllChildren(document.querySelector("#numbers dd")), window.kept = document.querySelector("#agents tbody a"), kept.focus(), true)' >/dev/null
api POST /api/v1/agents 'name=aswan' >/dev/null
true_in_page a_new_row_comes_above 'document.querySelector("#agents tbody a").textContent === "aswan"'
is focus_and_selection_stay "$(text '[document.activeElement === kept, kept.textContent, document.getSelection().toString() !== ""].join()')" true,cairo,true
go "$base/channels?q=rad"
is a_list_can_be_searched "$(text '[...document.querySelectorAll("tbody th a")].map(a => a.textContent.split(".")[0]).join()')" radio
js '(document.getElementById("f-q").focus(), document.getElementById("f-q").value = "half a wo", document.querySelector("details").open = true, document.getElementById("f-label").value = "mine", true)' >/dev/null
api POST /api/v1/channels 'seeds=http://radon.example/' >/dev/null
true_in_page the_list_goes_on 'document.querySelectorAll("tbody tr").length === 2'
is what_is_typed_stays "$(text '[document.getElementById("f-q").value, document.getElementById("f-label").value, document.querySelector("details").open].join()')" 'half a wo,mine,true'
api POST /api/v1/agents/cairo/pause '' >/dev/null
go "$base/agents/cairo"
true_in_page a_paused_agent_says_so 'document.querySelector("#agent-state .state").textContent === "paused" && /paused/.test(document.querySelector("#agent-note .notice").textContent)'
press 'form[action$="/resume"] button'
true_in_page an_agent_can_be_resumed 'document.querySelector("form[action$=\"/pause\"]") !== null && /Resumed/.test(document.querySelector(".notice.good").textContent)'
console_is_quiet no_errors_while_it_works

# ---- a viewer ----
go "$base/people"
press '.more summary'
type_into f-name eva
type_into f-first 'only for looking'
press '.wide-form button'
true_in_page a_person_is_added '[...document.querySelectorAll("tbody th")].some(t => t.textContent === "eva")'
log_out
log_in eva 'only for looking'
true_in_page a_viewer_is_let_in 'location.pathname === "/" && /viewer/.test(document.querySelector(".me").textContent)'
go "$base/agents"
is a_viewer_has_no_buttons "$(js 'document.querySelector("a[href=\"/agents/new\"]") === null')" true
go "$base/agents/nicosia-1"
is a_viewer_has_no_forms "$(js 'document.querySelectorAll("main form").length')" 0
csrf=$(text 'document.querySelector("[name=csrf]").value')
status_of() { # PATH BODY: of a POST from the page, with its cookie
    wd POST /execute/async "$(jq -n --arg p "$1" --arg b "$2" '{script: "var done = arguments[2]; fetch(arguments[0], {method: \"POST\", body: new URLSearchParams(arguments[1])}).then(a => done(a.status), e => done(String(e)))", args: [$p, $b]}')"
}
is a_viewer_cannot_change "$(status_of /api/v1/agents/nicosia-1/resume "csrf=$csrf")" 403
is a_viewer_cannot_add_people "$(status_of /api/v1/people "csrf=$csrf&name=x&role=admin&password=0123456789")" 403
log_out

# ---- forgery ----
log_in admin 'correct horse'
until_js 'location.pathname === "/"'
is without_the_token_nothing_changes "$(status_of /api/v1/agents/nicosia-1/resume '')" 403
is with_another_token_nothing_changes "$(status_of /api/v1/agents/nicosia-1/resume "csrf=$csrf")" 403
csrf=$(text 'document.querySelector("[name=csrf]").value')
is with_the_token_it_does "$(status_of /api/v1/agents/nicosia-1/resume "csrf=$csrf")" 200
go "data:text/html,<form method=post action=$base/api/v1/agents/nicosia-1/pause><button>x</button></form>"
press 'button'
until_js 'location.protocol === "http:"'
is another_page_cannot_post "$(api GET /api/v1/agents/nicosia-1 | jq -r .wanted)" run
wd POST /se/log '{"type":"browser"}' >/dev/null
go "$base/"
log_out

# ---- guessing ----
# Ten at once, then one every ten seconds. On a busy machine a try may take longer than that: others come beside it.
for i in $(seq 12); do
    guesses=
    for k in 1 2 3 4 5 6; do
        curl -s -o /dev/null --max-time 60 --data "name=admin&password=wrong-$i-$k" "$base/login" &
        guesses="$guesses $!"
    done
    log_in admin "guess number $i"
    until_js 'document.querySelector(".notice.bad") !== null'
    said=$(text 'document.querySelector(".notice.bad").textContent')
    for pid in $guesses; do wait "$pid"; done
    case $said in *wrong*) ;; *) break ;; esac
done
is guessing_is_limited "$(printf '%s' "$said" | sed 's/[0-9][0-9]*/N/')" 'Too many tries. Wait N seconds and try again.'
exit $failed
