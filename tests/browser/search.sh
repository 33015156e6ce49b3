#!/bin/sh
# Searching as people do: a word, results, the next page, nothing found, a filter; and a page that means harm.
. "$(dirname "$0")/lib.sh"
make_pages "$tmp/data"
serve "$tmp/data"
start_browser

go "$base/"
is start_page_has_the_focus_in_its_box "$(text 'document.activeElement.id')" q
keys "spider$ENTER"
true_in_page search_by_typing 'location.pathname === "/search" && document.querySelectorAll(".hits > li").length === 10'
is query_stays_in_the_box "$(text 'document.getElementById("q").value')" spider
is title_names_the_query "$(text 'document.title')" 'spider – Orbweaver'
is words_are_marked "$(js 'document.querySelectorAll(".hits > li")[0].querySelectorAll("mark").length > 0')" true
is total_is_said "$(js '/^27 results/.test(document.querySelector(".count").textContent)')" true
is breadcrumbs_show_the_way "$(text 'document.querySelector(".where").textContent' | sed 's/[0-9]*\.html/N/')" 'garden.example › spiders › N'
is date_and_language_are_shown "$(js '/^[0-9]+ [A-Z][a-z]{2} 20[0-9]{2} · English$/.test(document.querySelector(".facts").textContent)')" true
is results_are_links_that_tell_nothing "$(text 'document.querySelector(".hits a").rel')" 'noopener nofollow noreferrer'

first=$(text 'document.querySelector(".hits a").href')
js 'document.querySelector(".pages a[rel=next]").click()' >/dev/null
true_in_page next_page 'new URLSearchParams(location.search).get("page") === "2" && document.querySelector(".hits").start === 11'
is second_page_is_another "$(js "document.querySelector('.hits a').href !== '$first'")" true
is current_page_is_named "$(text 'document.querySelector(".pages [aria-current=page]").textContent')" 2
js 'document.querySelector(".pages [aria-label=\"Page 3\"]").click()' >/dev/null
true_in_page last_page_has_the_rest 'document.querySelectorAll(".hits > li").length === 7 && !document.querySelector(".pages a[rel=next]")'
go "$base/search?q=spider&page=50"
is beyond_the_last_page "$(js '/No more results/.test(document.body.textContent)')" true

go "$base/search?q=spider"
is facets_of_sites_and_languages "$(text '[...document.querySelectorAll("#narrow h3")].map(h => h.textContent).join()')" 'Site,Language'
js '[...document.querySelectorAll("#narrow a")].find(a => a.textContent.startsWith("German")).click()' >/dev/null
true_in_page language_filter 'document.getElementById("q").value === "spider lang:de" && document.querySelectorAll(".hits > li").length === 1'
is found_in_german "$(text 'document.querySelector(".hits article").lang')" de
js 'document.querySelector(".active a").click()' >/dev/null
true_in_page filter_taken_away 'document.getElementById("q").value === "spider"'

go "$base/search?q=weather+sunshine"
is similar_pages_are_folded "$(text 'document.querySelectorAll(".hits > li").length + " " + document.querySelector(".facts a").textContent')" '1 1 similar'
js 'document.querySelector(".facts a").click()' >/dev/null
true_in_page similar_pages_unfold 'document.querySelectorAll(".hits > li").length === 2'

go "$base/search?q=spidr"
is nothing_found_is_said "$(js '/No page has all of these words/.test(document.querySelector(".nothing h2").textContent)')" true
is did_you_mean "$(text 'document.querySelector(".suggestion a").textContent')" spider
js 'document.querySelector(".suggestion a").click()' >/dev/null
true_in_page suggestion_finds 'document.querySelectorAll(".hits > li").length === 10'
go "$base/search?q=-spider"
is nothing_to_look_for "$(js 'document.querySelector("main h1").textContent.length > 5 && !document.querySelector(".hits")')" true
console_is_quiet no_errors_while_searching

# Fields that a program took out of pages.
go "$base/search?q=kettle"
is fields_are_listed "$(text '[...document.querySelectorAll(".fields li")].map(l => l.textContent).slice(0, 2).join("|")')" 'price: 9.99|author: Jörg Doe'
is some_fields_are_shown "$(text 'document.querySelectorAll(".fields li").length + " " + document.querySelector(".fields li:last-child").textContent')" '7 3 more'
is a_hostile_field_is_text "$(text 'document.querySelectorAll(".fields li")[2].textContent')" 'note: "><img src=x onerror=alert(10)><b id=planted>x</b>'
is a_hostile_field_makes_no_element "$(js 'document.querySelectorAll("main img, main script, main i, #planted").length')" 0
is fields_link_to_searches_only "$(js '[...document.querySelectorAll(".fields a")].every(a => a.pathname === "/search" && a.origin === location.origin)')" true
is no_alert_for_fields "$(wd GET /alert/text | jq -r '.error // "an alert came"')" 'no such alert'
js 'document.querySelector(".fields a").click()' >/dev/null
true_in_page a_field_narrows 'document.getElementById("q").value === "kettle field:price=\x229.99\x22" && document.querySelectorAll(".hits > li").length === 1'
go "$base/search?q=field%3Aprice%3D9.99"
is a_field_alone_is_a_query "$(js 'document.querySelectorAll(".hits > li").length')" 2
is words_only_is_said "$(js '[...document.querySelectorAll(".facts")].filter(f => /known by its words only/.test(f.textContent)).length')" 1
is no_snippet_of_words "$(js 'document.querySelectorAll(".snippet").length')" 1
console_is_quiet no_errors_with_fields

# Text from pages is shown as text, whatever it is.
for q in harmful '<script>alert(5)</script>' '"><img src=x onerror=alert(6)>' "';alert(7)//"; do
    go "$base/search?q=$(printf '%s' "$q" | jq -sRr @uri)"
    alert=$(wd GET /alert/text | jq -r '.error // "an alert came"')
    is "no_alert_for_$(printf '%s' "$q" | tr -dc a-z0-9)" "$alert" 'no such alert'
    is "no_element_for_$(printf '%s' "$q" | tr -dc a-z0-9)" "$(js 'document.querySelectorAll("main img, main iframe, main script, main svg, main b, #planted").length')" 0
done
go "$base/search?q=harmful"
is script_in_a_title_is_text "$(js 'document.querySelector(".hits h2").textContent.includes("<script>alert(\x27harmful\x27)</script>")')" true
is attributes_hold "$(js '[...document.querySelectorAll("main *")].every(e => [...e.attributes].every(a => !a.name.startsWith("on")))')" true
console_is_quiet harm_leaves_no_trace
exit $failed
