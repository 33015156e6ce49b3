#!/bin/sh
# How pages look and can be used: light and dark, narrow, without JavaScript, by keyboard, read aloud.
. "$(dirname "$0")/lib.sh"
make_pages "$tmp/data"
serve "$tmp/data"
start_browser

pages="/ /search?q=spider /search?q=zzzz /search?q=unbreakable /search?q=harmful /status /about-this-crawler /nowhere"

for mode in light dark; do
    cdp Emulation.setEmulatedMedia '{"features":[{"name":"prefers-color-scheme","value":"'$mode'"}]}' >/dev/null
    go "$base/search?q=spider"
    is "background_is_$mode" "$(text 'getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).slice(0, 3).every(v => v > 200) ? "light" : "dark"')" $mode
    for page in $pages; do
        go "$base$page"
        is "contrast_${mode}_$(printf '%s' "$page" | tr -dc a-z)" "$(js "$contrast")" true
    done
done
cdp Emulation.setEmulatedMedia '{"features":[]}' >/dev/null

cdp Emulation.setDeviceMetricsOverride '{"width":360,"height":740,"deviceScaleFactor":2,"mobile":true}' >/dev/null
for page in $pages; do
    go "$base$page"
    is "narrow_$(printf '%s' "$page" | tr -dc a-z)" "$(text 'innerWidth + " " + document.documentElement.scrollWidth')" '360 360'
done
go "$base/search?q=spider"
is box_does_not_make_phones_zoom "$(js 'parseFloat(getComputedStyle(document.getElementById("q")).fontSize) >= 16')" true
is narrow_has_a_way_to_the_filters "$(js 'document.querySelector(".to-narrow").checkVisibility()')" true
cdp Emulation.clearDeviceMetricsOverride '{}' >/dev/null
console_is_quiet no_errors_while_looking

# Read aloud: landmarks, one heading of the first level, names for everything that can be used.
for page in $pages; do
    go "$base$page"
    name=$(printf '%s' "$page" | tr -dc a-z)
    is "structure_$name" "$(text '["main", "h1", "[role=search]", "footer nav[aria-label]", "a.skip"].map(s => document.querySelectorAll(s).length).join("")')" 11111
    is "names_$name" "$(js '[...document.querySelectorAll("a, button, input")].every(e => (e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length)))  && [...document.images].every(i => i.hasAttribute("alt")) && document.documentElement.lang === "en"')" true
    is "headings_in_order_$name" "$(js '(l => l.every((n, i) => i === 0 || n <= l[i - 1] + 1))([...document.querySelectorAll("h1, h2, h3")].map(h => +h.tagName[1]))')" true
done

# By keyboard.
go "$base/search?q=spider"
keys "$TAB"
is first_stop_is_the_skip_link "$(text 'document.activeElement.className')" skip
is skip_link_is_seen "$(js 'document.activeElement.getBoundingClientRect().top >= 0')" true
keys "$ENTER"
true_in_page skip_link_leads_to_the_results 'document.activeElement.id === "main"'
keys "$TAB"
true_in_page then_comes_a_result 'document.activeElement.closest("main") !== null && document.activeElement.tagName === "A"'
is focus_is_seen "$(js 'getComputedStyle(document.activeElement).outlineStyle === "solid" && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2')" true
keys /
true_in_page slash_goes_to_the_box 'document.activeElement.id === "q" && document.getElementById("q").value === "spider"'
keys "garden$ENTER"
true_in_page typing_replaces_the_query 'new URLSearchParams(location.search).get("q") === "garden"'
keys /
true_in_page slash_again 'document.activeElement.id === "q"'
keys "$ESCAPE"
true_in_page escape_leaves_the_box 'document.activeElement.id !== "q"'

# Without JavaScript. The scripts of the page do not run; those of the driver do once they may again.
scripts_off() { cdp Emulation.setScriptExecutionDisabled "{\"value\":$1}" >/dev/null; }
navigate() { cdp Page.navigate "{\"url\":\"$1\"}" >/dev/null; }
until_at() { # PATTERN: waits until the address matches, without a script
    for _ in $(seq 20); do
        cdp Page.getNavigationHistory '{}' | jq -e --arg p "$1" '.entries[.currentIndex].url | test($p)' >/dev/null && return 0
        sleep 0.1
    done
    return 1
}
scripts_off true
navigate "$base/"
for _ in 1 2 3 4 5; do # the box has the focus once the page is there
    cdp Input.insertText '{"text":"spider"}' >/dev/null
    cdp Input.dispatchKeyEvent '{"type":"keyDown","key":"Enter","code":"Enter","windowsVirtualKeyCode":13,"text":"\r"}' >/dev/null
    cdp Input.dispatchKeyEvent '{"type":"keyUp","key":"Enter","code":"Enter","windowsVirtualKeyCode":13}' >/dev/null
    until_at '/search' && break
done
scripts_off false
true_in_page search_without_javascript 'location.pathname === "/search" && document.querySelectorAll(".hits > li").length === 10'
scripts_off true
navigate "$base/status"
until_at '/status$'
for _ in $(seq 20); do # all of it, down to the last element
    cdp DOM.getDocument '{"depth":-1}' | grep -q FOOTER && break
    sleep 0.1
done
scripts_off false
is status_without_javascript "$(text '[document.getElementById("charts").hidden, document.querySelector("[data-key=\"index.docs\"]").textContent, document.querySelector("noscript p") !== null].join()')" 'true,33,true'
exit $failed
