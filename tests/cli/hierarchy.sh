#!/bin/sh
# orb hierarchy. With REGISTRY_FILES (paths with blanks between) it also reads real, large files.
. "$(dirname "$0")/lib.sh"
data=$top/tests/data/registry

printf 'prefix\tcountry\tholder\n10.0.0.0/8\tUS\tExample, Inc.\n10.1.0.0/16\tDE\tBeispiel GmbH\n10.1.2.3\tDE\tBeispiel\n2001:db8::/32\tNL\tSix\n' >"$tmp/a.tsv"

# ---- build ----
run hierarchy build --in "$tmp/a.tsv" -o "$tmp/a.hier"
if [ $code = 0 ]; then ok builds; else not_ok builds "$(cat "$err")"; fi
has counts_networks '4' "$out"
run hierarchy build --json --in "$tmp/a.tsv" --in "$data/apnic-extended.txt" "$data/rpsl-ripe-TEST.db" -o "$tmp/b.hier"
holds build_json '.nodes_v4 > 100 and .nodes_v6 > 50 and (.files | length) == 3 and .files[1].format == "rir-extended" and .files[2].organisations == 5 and .height == 3'
gzip -c "$tmp/a.tsv" >"$tmp/a.tsv.gz"
run hierarchy build --json --in "$tmp/a.tsv.gz" -o "$tmp/gz.hier"
holds reads_gzip '.nodes == 4'
if command -v zstd >/dev/null; then
    zstd -q "$tmp/a.tsv" -o "$tmp/a.tsv.zst"
    run hierarchy build --json --in "$tmp/a.tsv.zst" -o "$tmp/zst.hier"
    holds reads_zstd '.nodes == 4'
else
    ok reads_zstd # skipped: zstd(1) is not here
fi
mkdir "$tmp/data"
run hierarchy build --in "$tmp/a.tsv" --data "$tmp/data"
if [ $code = 0 ] && [ -s "$tmp/data/hierarchy" ]; then ok builds_into_the_data_folder; else not_ok builds_into_the_data_folder "$(cat "$err")"; fi

mkdir "$tmp/data/registry"
cp "$tmp/a.tsv" "$data/apnic-extended.txt" "$tmp/data/registry"
echo 'ETag: "1"' >"$tmp/data/registry/a.tsv.http"
echo 'cut sho' >"$tmp/data/registry/b.tsv.part"
run hierarchy build --json --in "$tmp/data/registry" -o "$tmp/folder.hier"
holds reads_a_folder '(.files | length) == 2 and .files[1].format == "rir-extended"'
run hierarchy build --json --data "$tmp/data" -o "$tmp/folder.hier"
holds reads_what_fetch_got '(.files | length) == 2'
complains refresh_has_its_place 2 'not with --hierarchy' coordinator --data "$tmp/none" --refresh-registries --hierarchy "$tmp/a.hier"

# ---- bad lines: told, never fatal ----
{
    echo '10.0.0.0/8	US	A'
    for i in $(seq 14); do echo "10.0.$i.0/33	US	B"; done
    echo '10.2.0.0/16	US	C'
} >"$tmp/bad.tsv"
run hierarchy build --in "$tmp/bad.tsv" -o "$tmp/bad.hier"
if [ $code = 0 ]; then ok bad_lines_are_not_fatal; else not_ok bad_lines_are_not_fatal "code $code"; fi
has tells_the_line "bad.tsv line 2: no range of addresses" "$err"
has tells_how_many_more "4 more lines skipped" "$err"
if grep -q 'line 12:' "$err"; then not_ok tells_the_first_ten "$(cat "$err")"; else ok tells_the_first_ten; fi
run hierarchy build --in "$tmp/bad.tsv" -o "$tmp/bad.hier" --verbose
has verbose_tells_all "line 15: no range" "$err"
run hierarchy build --json --in "$tmp/bad.tsv" -o "$tmp/bad.hier"
holds json_of_bad_lines '.files[0].bad == 14 and (.files[0].bad_lines | length) == 10 and .files[0].bad_lines[0].line == 2 and .nodes == 2'
complains no_format 3 'in no format that is known' hierarchy build --in "$top/tests/cli/hierarchy.sh" -o "$tmp/x.hier"
complains no_input 2 'nothing to read' hierarchy build -o "$tmp/x.hier"
complains no_such_input 4 'No such file' hierarchy build --in "$tmp/nothing" -o "$tmp/x.hier"
head -c 40 "$tmp/a.tsv.gz" >"$tmp/cut.gz"
complains gzip_cut_short 3 'damaged or cut short' hierarchy build --in "$tmp/cut.gz" -o "$tmp/x.hier"
complains cannot_write 4 'write ' hierarchy build --in "$tmp/a.tsv" -o "$tmp/no/such/folder"
if [ -e "$tmp/x.hier" ]; then not_ok leaves_nothing_behind "x.hier is there"; else ok leaves_nothing_behind; fi

# ---- lookup ----
gives lookup 0 "10.1.2.3
    10.1.2.3/32          DE    Beispiel GmbH
    10.1.0.0/16          DE    Beispiel GmbH
    10.0.0.0/8           US    Example, Inc." hierarchy lookup --hierarchy "$tmp/a.hier" 10.1.2.3
gives lookup_of_nothing 1 "192.0.2.1  nothing registered" hierarchy lookup --hierarchy "$tmp/a.hier" 192.0.2.1
gives lookup_in_the_data_folder 0 "2001:db8::1
    2001:db8::/32        NL    Six" hierarchy lookup --data "$tmp/data" 2001:db8::1
run hierarchy lookup --hierarchy "$tmp/a.hier" --json 10.1.2.3 10.2.0.1
if jq -se 'length == 2 and .[0].cell == "10.1.0.0/16" and (.[0].path | map(.network)) == ["10.1.2.3/32", "10.1.0.0/16", "10.0.0.0/8"] and
    .[1].path[0].holder == "Example, Inc." and .[1].path[0].registry == null and .[1].cell == "10.2.0.0/15"' "$out" >/dev/null; then
    ok lookup_json
else
    not_ok lookup_json "$(cat "$out")"
fi
printf '10.2.0.1\n\n 10.1.0.1 \n' | timeout 20 "$orb" hierarchy lookup --hierarchy "$tmp/a.hier" >"$out"
if [ $? = 0 ] && [ "$(grep -c '^10\.' "$out")" = 2 ]; then ok lookup_of_standard_input; else not_ok lookup_of_standard_input "$(cat "$out")"; fi
complains lookup_of_no_address 3 'no internet address' hierarchy lookup --hierarchy "$tmp/a.hier" example.org
complains no_hierarchy 4 'make one with orb hierarchy build' hierarchy lookup --hierarchy "$tmp/nothing" 10.0.0.1
complains not_a_hierarchy 4 'it is no hierarchy' hierarchy lookup --hierarchy "$tmp/a.tsv" 10.0.0.1

# ---- stats ----
run hierarchy stats "$tmp/b.hier"
has stats_height 'height' "$out"
has stats_licence 'APNIC: free to use' "$out"
has stats_origin 'file=apnic-extended.txt' "$out"
run hierarchy stats --hierarchy "$tmp/b.hier" --json
holds stats_json '.height == 3 and (.at_depth | length) == 3 and (.at_depth | add) == .nodes and .registries.apnic > 100 and (.licences | length) == 1'
cp "$tmp/b.hier" "$tmp/damaged.hier"
printf 'XXXX' | dd of="$tmp/damaged.hier" bs=1 seek=2000 conv=notrunc 2>/dev/null
complains stats_of_a_damaged_file 4 'build it again' hierarchy stats "$tmp/damaged.hier"

# ---- diff ----
gives no_difference 0 '0 gone, 0 new, 0 changed, 4 the same' hierarchy diff "$tmp/a.hier" "$tmp/gz.hier"
sed 's/Six/Seven/; s/^10.1.0.0/10.9.0.0/' "$tmp/a.tsv" >"$tmp/c.tsv"
run hierarchy build --in "$tmp/c.tsv" -o "$tmp/c.hier"
gives difference 1 '- 10.1.0.0/16  DE   Beispiel GmbH
+ 10.9.0.0/16  DE   Beispiel GmbH
~ 2001:db8::/32  NL   Six -> NL   Seven
1 gone, 1 new, 1 changed, 2 the same' hierarchy diff "$tmp/a.hier" "$tmp/c.hier"
run hierarchy diff --json "$tmp/a.hier" "$tmp/c.hier"
holds diff_json '.gone == 1 and .new == 1 and .changed == 1 and .same == 2 and (.changes | length) == 3 and .changes[2].before.holder == "Six"'

# ---- fetch: nobody serves there; downloads themselves are tested by test_download ----
run hierarchy fetch --from http://127.0.0.1:9 -o "$tmp/registry"
if [ $code = 4 ] && grep -q 'delegated-arin-extended-latest' "$err"; then ok fetch_says_what_failed; else not_ok fetch_says_what_failed "code $code: $(cat "$err")"; fi
if grep -q 'ripe.db' "$err"; then not_ok fetch_without_databases "$(cat "$err")"; else ok fetch_without_databases; fi
run hierarchy fetch --from http://127.0.0.1:9 -o "$tmp/registry" --rpsl --json
if jq -se 'length == 14 and all(.error != null) and any(.path | endswith("/ripe.db.inetnum.gz"))' "$out" >/dev/null; then ok fetch_json; else not_ok fetch_json "$(head -n 2 "$out")"; fi

# ---- usage ----
complains no_such_verb 2 'no such verb' hierarchy lookups
complains too_few 2 'usage: orb hierarchy diff OLD NEW' hierarchy diff "$tmp/a.hier"

# ---- real files ----
if [ "${REGISTRY_FILES:-}" ]; then
    # shellcheck disable=SC2086 # a list
    run hierarchy build --json --in $REGISTRY_FILES -o "$tmp/real.hier"
    holds real_files '.nodes > 1000 and .height > 1'
    run hierarchy stats "$tmp/real.hier" --json
    holds real_files_are_sound '.nodes > 1000'
else
    ok "real_files # skipped: REGISTRY_FILES names none"
fi
exit $failed
