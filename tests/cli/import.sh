#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# orb import and orb warc: what they take, what they say of what is wrong, how they end. The samples are those of warcio.
. "$(dirname "$0")/lib.sh"
samples=$top/tests/data/warc

complains nothing_given 2 'something is missing' import --data "$tmp/none"
complains no_such_file 4 'open /nowhere.warc: No such file or directory: check the path' import --data "$tmp/none" /nowhere.warc
printf 'no archive\nat all\n' >"$tmp/text"
complains no_archive 3 "$tmp/text: no archive" import --data "$tmp/none" "$tmp/text"
printf 'PK\003\004and more' >"$tmp/x.wacz"
complains a_cut_zip_file 3 "x.wacz: a zip file that was cut or is damaged" import --data "$tmp/none" "$tmp/x.wacz"
# NAME COMPRESSION FILE...: a zip file of them, as WACZ are, under archive/
make_zip() {
    rm -rf "$tmp/zip" && mkdir -p "$tmp/zip/archive" && echo '{}' >"$tmp/zip/datapackage.json"
    zip_name=$1 zip_how=$2
    shift 2
    [ $# = 0 ] || cp "$@" "$tmp/zip/archive/"
    bsdtar --format zip --options "zip:compression=$zip_how" -cf "$tmp/$zip_name" -C "$tmp/zip" archive datapackage.json
}
make_zip none.wacz store
complains a_zip_file_without_archives 3 "none.wacz: a zip file without archives" import --data "$tmp/none" "$tmp/none.wacz"
make_zip packed.wacz deflate "$samples/example.warc"
complains a_zip_file_that_compresses 3 'packed.wacz/archive/example.warc: compressed once more by the zip file: unpack that' import --data "$tmp/none" "$tmp/packed.wacz"
: >"$tmp/empty"
complains empty_file 3 "$tmp/empty: no archive" import --data "$tmp/none" "$tmp/empty"
mkdir "$tmp/folder"
complains empty_folder 3 'no archive in what was given' import --data "$tmp/none" "$tmp/folder"
complains no_page 1 'no web page in 1 archive' import --data "$tmp/none" "$samples/example-space-in-target-uri.warc.gz"
if [ ! -e "$tmp/none" ]; then ok makes_no_folder; else not_ok makes_no_folder "there it is"; fi

# NAME CODE FILTER FILE...: into a fresh folder.
takes() {
    name=$1 want_code=$2 filter=$3
    shift 3
    rm -rf "$tmp/d"
    run import --data "$tmp/d" --json "$@"
    if [ "$code" = "$want_code" ]; then holds "$name" "$filter"; else not_ok "$name" "exit code $code, want $want_code: $(head -n 1 "$err")"; fi
}
takes good 0 '.pages == 1 and .bad == 0 and .types.response == 1 and .types.revisit == 1 and .taken == 2' "$samples/example.warc"
takes good_gzip 0 '.pages == 1 and .problems == 0' "$samples/example.warc.gz"
make_zip good.wacz store "$samples/example.warc" "$samples/example-iana.org-chunked.warc.gz"
takes wacz 0 '.pages == 2 and .problems == 0 and .files == 2 and .types.response == 2' "$tmp/good.wacz"
takes wacz_through_a_pipe 0 '.pages == 2 and .problems == 0 and .files == 2' - <"$tmp/good.wacz"
mkdir "$tmp/waczs" && cp "$tmp/good.wacz" "$tmp/waczs/"
takes wacz_in_a_folder 0 '.pages == 2 and .files == 2' "$tmp/waczs"
takes wacz_beside_a_cut_one 1 '.pages == 2 and .files == 3 and .archives == 2' "$tmp/good.wacz" "$tmp/x.wacz"
run warc "$tmp/good.wacz" --json
holds warc_lists_wacz '[.file] | all(contains("good.wacz/archive/example"))'
takes arc 0 '.pages == 1 and .records == 2' "$samples/example.arc"
takes arc_gzip 0 '.pages == 1 and .records == 2' "$samples/example.arc.gz"
takes chunked 0 '.pages == 1 and .index_docs == 1' "$samples/example-iana.org-chunked.warc.gz"
takes resource 0 '.pages == 1 and .types.resource >= 1' "$samples/example-resource.warc.gz"
takes brackets_around_addresses 0 '.pages >= 1' "$samples/example-wget-bad-target-uri.warc.gz"
takes answers_to_posts_are_no_pages 0 '.taken == 0 and .no_page >= 1' "$samples/post-test.warc.gz"
takes space_in_address 1 '.pages == 1 and .bad == 0 and .problems == 1' "$samples/example-space-in-url.arc"
run export --data "$tmp/d"
holds space_is_written_out '.url == "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples%20From%20The%20Live%20Web&IsPopUp=False" and .fetched == "2014-02-16T05:02:21Z" and .title == "Example Domain"'
takes one_member_for_all 0 '.records == 6 and .pages >= 1' "$samples/example-bad.warc.gz.bad"
takes wrong_length 1 '.pages == 1 and .bad == 0 and .problems == 3' "$samples/example-trunc.warc"
head -c 2500 "$samples/example.warc" >"$tmp/cut.warc"
takes cut_short 1 '.bad == 1 and .problems == 1 and .pages == 0' "$tmp/cut.warc"
complains says_where 1 "$tmp/cut.warc: at byte 1197: the file ends before it does" import --data "$tmp/where" "$tmp/cut.warc"
takes wrong_chunks 1 '.pages == 1 and .problems == 1' "$samples/example-wrong-chunks.warc.gz"
takes some_are_no_archives 1 '.files == 2 and .archives == 1 and .pages == 1' "$samples/example.warc" "$tmp/text"

# What crawlers write besides: name lookups, and how far a page was from a seed.
rec() { # TYPE ID CONTENT-TYPE URL MORE BLOCK
    printf 'WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%s>\r\nContent-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n%sContent-Length: %s\r\n\r\n%s\r\n\r\n' \
        "$1" "$2" "$3" "$4" "$5" "$(printf %s "$6" | wc -c)" "$6"
}
nl=$(printf '\r\n.') && nl=${nl%.}
page="HTTP/1.1 200 OK${nl}Content-Type: text/html$nl$nl<title>A page</title><p>Words of it <a href=/next>next</a>"
{
    rec response 1 text/dns dns:example.org '' '192.0.2.1'
    rec response 2 'application/http; msgtype=response' http://example.org/far '' "$page"
    rec metadata 3 application/warc-fields http://example.org/far "WARC-Concurrent-To: <urn:x:2>$nl" "via: http://example.org/${nl}hopsFromSeed: LRL$nl"
    rec response 4 'application/http; msgtype=response' http://example.org/no '' 'nothing of the kind'
    rec revisit 5 'application/http; msgtype=response' http://example.org/unknown "WARC-Payload-Digest: sha1:AAAA$nl" "HTTP/1.1 200 OK$nl$nl"
    rec conversion 6 text/plain http://example.org/text '' 'words'
} >"$tmp/crawler.warc"
takes other_records 1 '.records == 6 and .pages == 1 and .no_page == 1 and .bad == 1 and .problems == 1 and .no_original == 1 and .queued == 1' "$tmp/crawler.warc"
run export --data "$tmp/d" --states
holds distance_from_a_seed '.state.depth == 2'
takes no_links 1 '.pages == 1 and .queued == 0' --depth 0 "$tmp/crawler.warc"

# The first look judges records as the second one does: what a wrong length took in is of the channel too.
filler=$(printf '<p>Words of it%.0s' $(seq 200))
{
    rec response 1 'application/http; msgtype=response' http://a.example/ '' "$page$filler" | sed 's/^Content-Length: ./&9/'
    rec response 2 'application/http; msgtype=response' http://b.example/ '' "$page$filler"
} >"$tmp/long.warc"
takes a_site_in_a_block_that_is_too_long 1 '.pages == 1 and .bad == 1 and .out_of_scope == 0' "$tmp/long.warc"

# A request may belong to several records.
{
    rec response 2 'application/http; msgtype=response' http://example.org/form '' "$page"
    rec response 3 'application/http; msgtype=response' http://example.org/page '' "$page"
    rec request 4 'application/http; msgtype=request' http://example.org/form "WARC-Concurrent-To: <urn:x:1>${nl}WARC-Concurrent-To: <urn:x:2>$nl" "POST /form HTTP/1.1$nl$nl"
} >"$tmp/post.warc"
takes an_answer_to_a_request_of_several_records 0 '.pages == 1 and .no_page == 1' "$tmp/post.warc"

# Revisits of a body that stands in the middle of a member: whoever packs an archive as a whole has only such.
digest=$(printf '<title>One</title><p>Words of one <a href=/next>next</a>' | sha1sum | cut -d ' ' -f 1)
one="HTTP/1.1 200 OK${nl}Content-Type: text/html$nl$nl<title>One</title><p>Words of one <a href=/next>next</a>"
original() { rec response "$1" 'application/http; msgtype=response' "http://example.org/$1" "WARC-Payload-Digest: sha1:$digest$nl" "$one"; }
again() { rec revisit "$1" 'application/http; msgtype=response' "http://example.org/$1" "WARC-Payload-Digest: sha1:$digest$nl" "HTTP/1.1 200 OK${nl}Content-Type: text/html$nl$nl"; }
{
    again before
    rec response 2 'application/http; msgtype=response' http://example.org/other '' "$page"
    original one
    again after
    rec response 5 'application/http; msgtype=response' http://example.org/after '' "$page" | sed 's/2020-01-02T/2020-01-09T/'
} >"$tmp/whole.warc"
gzip -kf "$tmp/whole.warc"
zstd -qf "$tmp/whole.warc" -o "$tmp/whole.warc.zst"
takes originals_in_a_plain_file 0 '.taken == 5 and .pages == 4 and .no_original == 0' "$tmp/whole.warc"
for form in gz zst; do
    takes "originals_inside_of_a_member_$form" 0 '.taken == 4 and .pages == 4 and .known == 1 and .no_original == 0 and .records == 5' "$tmp/whole.warc.$form"
    run export --data "$tmp/d"
    if [ "$(jq -r 'select(.url | endswith("/before")) | .title' "$out")" = One ]; then ok "originals_have_their_text_$form"; else not_ok "originals_have_their_text_$form" "$(cat "$out")"; fi
done
{
    again before
    rec response 2 'application/http; msgtype=response' http://example.org/other '' "$page"
} | gzip >"$tmp/later.warc.gz"
takes originals_in_another_file 0 '.taken == 4 and .known == 3 and .no_original == 0' "$tmp/later.warc.gz" "$tmp/whole.warc.gz"

# A damaged record is no original: the one before it is.
{
    original one | gzip
    original two | gzip | head -c -8
    printf 12345678
    again after | gzip
} >"$tmp/damaged.warc.gz"
takes originals_are_not_damaged 1 '.taken == 2 and .bad == 1 and .no_original == 0' "$tmp/damaged.warc.gz"

# Versions of a page, one a command and not in their order: a revisit makes no older copy fresh.
at() { # DATE TYPE MORE BODY
    text="HTTP/1.1 200 OK${nl}Content-Type: text/html$nl$nl$4"
    rec "$2" "$1" 'application/http; msgtype=response' http://example.org/v "$3" "$text" | sed "s/2020-01-02T03:04:05Z/2020-01-0$1T00:00:00Z/"
}
refers="WARC-Refers-To-Target-URI: http://example.org/v${nl}WARC-Refers-To-Date:"
at 1 response '' '<title>The old one</title><p>Words' >"$tmp/v1.warc"
at 2 response '' '<title>The new one</title><p>Words' >"$tmp/v2.warc"
for profile in identical-payload-digest server-not-modified; do
    at 3 revisit "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/$profile$nl$refers 2020-01-02T00:00:00Z$nl" '' >"$tmp/v3.warc"
    rm -rf "$tmp/v"
    for n in 1 3 2 3; do run import --data "$tmp/v" --quiet "$tmp/v$n.warc"; done
    run export --data "$tmp/v"
    holds "revisit_of_a_version_that_comes_later_$profile" '.title == "The new one" and .fetched == "2020-01-03T00:00:00Z"'
done

# A page that had another version since the revisit's original is not known to be the one it found; nor is one that has
# gone since. What stands there still is.
gone() { # DATE
    rec response "$1" 'application/http; msgtype=response' http://example.org/v '' "HTTP/1.1 404 Not Found$nl$nl" |
        sed "s/2020-01-02T03:04:05Z/2020-01-0$1T00:00:00Z/"
}
at 2 response '' '<title>The new one</title><p>Other words' >"$tmp/v6.warc"
for profile in identical-payload-digest server-not-modified; do
    for n in 4 5; do
        at $n revisit "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/$profile$nl$refers 2020-01-01T00:00:00Z$nl" '' >"$tmp/v$n.warc"
    done
    gone 3 >"$tmp/v3.warc"
    rm -rf "$tmp/v"
    for n in 1 6; do run import --data "$tmp/v" --quiet "$tmp/v$n.warc"; done
    run import --data "$tmp/v" --json "$tmp/v4.warc"
    holds "revisit_of_the_version_before_$profile" '.no_original == 1 and .taken == 0'
    rm -rf "$tmp/v"
    for n in 1 3; do run import --data "$tmp/v" --quiet "$tmp/v$n.warc"; done
    run import --data "$tmp/v" --json "$tmp/v4.warc"
    holds "revisit_of_a_page_that_has_gone_$profile" '.no_original == 1 and .pages == 0'
    rm -rf "$tmp/v"
    run import --data "$tmp/v" --quiet "$tmp/v1.warc"
    run import --data "$tmp/v" --json "$tmp/v4.warc" "$tmp/v5.warc"
    holds "revisits_of_what_stands_there_$profile" '.no_original == 0 and .not_modified == 2'
    # The same version again, of a response without a digest, in the same command.
    rm -rf "$tmp/v"
    run import --data "$tmp/v" --quiet "$tmp/v1.warc"
    at 3 response '' '<title>The old one</title><p>Words' >"$tmp/v3.warc"
    run import --data "$tmp/v" --json "$tmp/v3.warc" "$tmp/v4.warc"
    holds "revisit_of_a_version_that_came_again_$profile" '.no_original == 0 and .not_modified == 1'
done

# What a revisit says of an error or a redirect needs no body.
profile="WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest$nl"
is_still() { # NAME DATE STATUS-AND-HEADERS FILTER
    rec revisit "$2" 'application/http; msgtype=response' http://example.org/v "$profile$refers 2020-01-02T00:00:00Z$nl" "HTTP/1.1 $3$nl$nl" |
        sed "s/2020-01-02T03:04:05Z/2020-01-0$2T00:00:00Z/" >"$tmp/still.warc"
    run import --data "$tmp/v" --json "$tmp/still.warc"
    holds "$1" "$4"
}
rm -rf "$tmp/v"
run import --data "$tmp/v" --quiet "$tmp/v1.warc"
is_still revisit_of_an_error 4 '404 Not Found' '.taken == 1 and .not_modified == 0 and .gone == 1'
is_still revisit_of_a_redirect 5 "301 Moved${nl}Location: /there" '.taken == 1 and .not_modified == 0 and .redirects == 1'

# A folder, twice; then through a pipe.
mkdir "$tmp/folder/below"
cp "$samples/example.warc.gz" "$tmp/folder/below/"
cp "$samples/example-iana.org-chunked.warc.gz" "$samples/example-space-in-url.arc" "$tmp/text" "$tmp/folder/"
takes folder 1 '.files == 3 and .pages == 3' "$tmp/folder"
run import --data "$tmp/d" --json "$tmp/folder"
holds folder_again '.taken == 0 and .known == 4 and .pages == 3'
# Links to folders may lead back; one that is named is meant.
ln -s .. "$tmp/folder/below/up"
ln -s . "$tmp/folder/self.warc"
ln -s folder "$tmp/named"
takes links_to_folders_are_not_followed 1 '.files == 3 and .pages == 3' "$tmp/folder"
takes a_link_that_is_named_is 1 '.files == 3 and .pages == 3' "$tmp/named"
run import --data "$tmp/p" --json - <"$samples/example.warc.gz"
holds pipe '.pages == 1'
run search --data "$tmp/d" --json 'illustrative examples'
holds searchable '.total >= 1 and (.results[0].url | startswith("http://example.com/"))'
run explain --data "$tmp/d" http://example.com/
if grep -q '2017-03-06' "$out"; then ok explained; else not_ok explained "$(cat "$out")"; fi

# What belongs to it.
takes include 1 '.pages == 1 and .out_of_scope >= 1' --include '*iana*' "$tmp/folder"
echo http://www.iana.org/ >"$tmp/seeds"
takes seeds 1 '.pages == 1 and .out_of_scope >= 1' --seeds "$tmp/seeds" "$tmp/folder"
complains bad_seed 3 "import: $tmp/text line 1" import --data "$tmp/none" --seeds "$tmp/text" "$tmp/folder"

# What is forgotten, or wants to be left alone, stays out, and is told apart from what does not belong to it.
cp -r "$tmp/d" "$tmp/f"
run forget --data "$tmp/f" www.iana.org
run import --data "$tmp/f" --json "$tmp/folder"
holds forgotten_stays_out '.forgotten == 1 and .out_of_scope == 0 and .taken == 3'
run import --data "$tmp/f" "$tmp/folder"
has forgotten_is_said 'stay out: see orb forget --list' "$out"
echo 'example.com  mail of its owner' >"$tmp/opt-out"
takes opt_out 1 '.forgotten >= 1 and .pages == 1' --opt-out "$tmp/opt-out" "$samples/example.warc" "$tmp/folder"
run import --data "$tmp/f" --quiet --opt-out "$tmp/opt-out" "$tmp/folder"
run export --data "$tmp/f"
if grep -q example.com "$out"; then not_ok opt_out_takes_out "$(cat "$out")"; else ok opt_out_takes_out; fi
complains opt_out_missing 4 'check the path' import --data "$tmp/none" --opt-out "$tmp/no-list" "$tmp/folder"
takes text_for_people 0 'true' "$samples/example.warc"
run import --data "$tmp/q" "$samples/example.warc"
if grep -q 'taken  *2 ' "$out" && grep -q 'orb crawl URL goes on' "$out"; then ok summary; else not_ok summary "$(cat "$out")"; fi
run import --data "$tmp/bare" --no-index "$samples/example.warc"
if grep -q 'goes on from there$' "$out"; then ok summary_without_index; else not_ok summary_without_index "$(cat "$out")"; fi
run import --data "$tmp/bare" --json "$samples/example.warc"
holds texts_come_later '.taken == 1 and .index_docs == 1'
complains no_index_after_all 3 'true with --no-index: leave that out, or choose another --data' import --data "$tmp/bare" --no-index "$samples/example.warc"
run import --data "$tmp/bare" --json "$samples/example.warc"
holds texts_come_once '.taken == 0 and .index_docs == 1'
run import --data "$tmp/q2" --quiet "$samples/example.warc"
if [ "$code" = 0 ] && [ ! -s "$out" ] && [ ! -s "$err" ]; then ok quiet; else not_ok quiet "$(cat "$out" "$err")"; fi

# orb warc
gives lists 0 'warcinfo	2014-02-16T05:02:21Z	-	75	whole	unchecked	filedesc://live-web-example.arc.gz
response	2014-02-16T05:02:21Z	200	1591	whole	unchecked	http://example.com/' warc "$samples/example.arc"
run warc --json "$samples/example.warc.gz"
holds lists_json '.file != null and .offset >= 0 and .state == "whole"'
complains tells_wrong_digests 1 'its payload digest is wrong' warc "$samples/example-digest.warc"
complains lists_no_archive 3 'no archive' warc "$tmp/text"
mkdir "$tmp/mixed"
cp "$tmp/text" "$tmp/mixed/1.warc"
cp "$samples/example.arc" "$tmp/mixed/2.arc"
run warc "$tmp/mixed"
if [ "$code" = 3 ] && grep -q 'no archive' "$err" && grep -q http://example.com/ "$out"; then ok lists_the_others; else not_ok lists_the_others "$code $(cat "$out" "$err")"; fi
exit $failed
