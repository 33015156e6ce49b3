#!/bin/sh
# Documents that are no web pages: PDFs, Markdown, plain text, and files that are known by name, type and size.
. "$(dirname "$0")/lib.sh"

serve_sample --part calm
h="http://harbour.example:$port" k="http://skein.example:$port" l="http://library.example:$port"
set -- --hosts "$tmp/hosts" --allow-private --delay 0 --contact me@example.org
run crawl --data "$tmp/d" "$@" --json "$h/" "$k/" "$l/"
holds crawl_counts '.not_html >= 6 and .not_read == 1 and .pdf_failed == 0 and .pdf_left == 0'

# NAME FILTER ARG...: what the JSON of a search says.
finds() {
    name=$1 filter=$2
    shift 2
    run search --data "$tmp/d" --json "$@"
    holds "$name" "$filter"
}

# The text of a PDF.
finds type_pdf ".total == 1 and .results[0].url == \"$h/report.pdf\"" type:pdf
finds pdf_title '.results[0].title == "Yearly report" and .results[0].type == "pdf" and .results[0].bytes > 1000 and .results[0].lang == "en"' type:pdf
word=$(jq -r '.results[0].snippet' "$out" | tr -cs 'A-Za-z' '\n' | awk 'length > 6' | tail -n 1)
finds pdf_text "any(.results[]; .url == \"$h/report.pdf\")" "$word" type:pdf
run explain --data "$tmp/d" --json "$h/report.pdf"
holds explain_pdf '.state == "fetched" and .content_type == "application/pdf" and (has("reason") | not)'

# Markdown: a page like others, whose links are followed.
finds markdown "any(.results[]; .url == \"$k/CHANGES.md\" and .title == \"Changes\" and .type == \"markdown\")" "ring buffer is a queue again"
finds markdown_links "any(.results[]; .url == \"$k/notes/upgrade.html\")" title:upgrade
run text "$0"
if [ "$code" = 0 ]; then ok text_of_another_name; else not_ok text_of_another_name "code $code"; fi
printf '# Ebb\n\nSee [the *list*](a.html) and `x_y`.\n' >"$tmp/a.md"
gives text_of_markdown 0 "Ebb
See the list and x_y." text "$tmp/a.md"
gives links_of_markdown 0 "http://h/d/a.html" links "$tmp/a.md" --base http://h/d/

# Other text, and what is known by its name alone.
finds csv "any(.results[]; .url == \"$l/catalogue.csv\" and .title == \"catalogue.csv\")" type:csv
finds image ".total == 1 and .results[0].url == \"$l/cover.png\" and .results[0].title == \"cover.png\"" type:image
finds by_name ".results[0].url == \"$l/cover.png\"" cover.png
finds by_link_text ".results[0].url == \"$l/cover.png\"" cubierta
finds size_in_words '.results[0].snippet | test("^PNG image, 1[.][0-9] kB$")' type:png
finds without_type ".total > 0 and all(.results[]; .type != \"html\")" harbour -type:html
finds several_types ".total == 2" type:png,pdf
finds no_type ".note == null" type:int
run search --data "$tmp/d" type:png
if grep -q 'png 1\.[0-9] kB' "$out"; then ok shown; else not_ok shown "$(cat "$out")"; fi
run check --data "$tmp/d"
if [ "$code" = 0 ]; then ok check; else not_ok check "$(cat "$out" "$err")"; fi

# Again: nothing has changed.
run crawl --data "$tmp/d" "$@" --json "$h/" "$k/" "$l/"
holds again '.pass == 2 and .not_read == 0 and .errors == 0'
finds still_there ".total == 2" type:png,pdf

# Without either.
run crawl --data "$tmp/e" "$@" --json --no-pdf --no-documents "$h/" "$l/"
holds no_pdf '.not_read == 2 and .pdf_left == 0'
run search --data "$tmp/e" --json type:png,pdf
holds no_documents '.total == 0'
run crawl --data "$tmp/e" "$@" --quiet "$h/" "$l/"
run crawl --data "$tmp/f" "$@" --json --no-pdf "$h/"
run crawl --data "$tmp/f" "$@" --json "$h/"
run search --data "$tmp/f" --json "$word" type:pdf
holds read_later "any(.results[]; .url == \"$h/report.pdf\")"

# Out of an archive too: once something reads them, the same files again bring what was left, and only that.
run crawl --data "$tmp/g" "$@" --quiet --warc "$tmp/w" "$h/"
run import --data "$tmp/i" --json --no-pdf "$tmp/w"
holds import_no_pdf '.taken > 10'
run import --data "$tmp/i" --json "$tmp/w"
holds import_reads_later '.taken == 1 and .pdf_failed == 0 and .known > 10'
run search --data "$tmp/i" --json "$word" type:pdf
holds import_has_read "any(.results[]; .url == \"$h/report.pdf\" and .title == \"Yearly report\")"
run import --data "$tmp/i" --json "$tmp/w"
holds import_reads_once '.taken == 0'
exit "$failed"
