#!/bin/sh
# orb program and orb key.
. "$(dirname "$0")/lib.sh"

# ---- keys ----
run key new --program "$tmp/secret"
has key_is_made "fingerprint " "$out"
if [ "$code" = 0 ] && [ "$(stat -c %a "$tmp/secret")" = 600 ]; then ok key_is_private; else not_ok key_is_private "$(ls -l "$tmp/secret")"; fi
cp "$out" "$tmp/public"
run key show "$tmp/secret"
if cmp -s "$out" "$tmp/public"; then ok key_is_shown; else not_ok key_is_shown "$(cat "$out")"; fi
run key show --json "$tmp/secret"
holds key_json '(.key | test("^[A-Za-z0-9_-]{43}$")) and (.fingerprint | test("^[0-9a-f]{64}$"))'
if grep -qF -e "$(sed -n 's/^seed: //p' "$tmp/secret")" "$out"; then not_ok key_secret_is_not_shown "it is"; else ok key_secret_is_not_shown; fi
cp "$tmp/secret" "$tmp/before"
complains key_is_never_overwritten 1 'there is such a file' key new --program "$tmp/secret"
if cmp -s "$tmp/secret" "$tmp/before"; then ok key_is_as_before; else not_ok key_is_as_before "changed"; fi
chmod 644 "$tmp/before"
complains open_key_is_refused 3 'others may read this key' key show "$tmp/before"
complains no_key 4 'No such file' key show "$tmp/nothing"
complains folder_is_no_key 4 'Is a directory' key show "$tmp"
printf 'hello\n' >"$tmp/hello"
chmod 600 "$tmp/hello"
complains text_is_no_key 3 'not a key' key show "$tmp/hello"
complains key_of_what 2 'usage: orb key new FILE' key new
complains key_verb 2 'neither new nor show' key old x

# ---- running ----
cat >"$tmp/page.html" <<'END'
<!doctype html><html lang="en"><head><title>Web scales</title><meta name="Author" content="Ann &amp; Bob">
<meta name=description content="Weighing webs"></head><body><h1>Scales</h1><p>For spiders: <a href="x?a=1" rel=nofollow>12.50 €</a></p></body></html>
END
cat >"$tmp/all.lua" <<'END'
function page(p)
  emit { title = p.title, author = p.meta.author, about = p.description, language = p.language, url = p.url, status = p.status }
  emit { heading = p.headings[1].text, type = p.headers["content-type"], rel = p.links[1].rel }
  follow(p.links[1].url)
  follow("../up")
  follow("mailto:a@b")
  skip()
  summary("one\ntwo\27[31m")
end
END
gives run_file 0 'field about Weighing webs
field author Ann & Bob
field language en
field status 200
field title Web scales
field url https://h/d/page
field heading Scales
field rel nofollow
field type text/html
follow https://h/d/x?a=1
follow https://h/up
not a URL: mailto:a@b
skip
summary one
summary two\x1b[31m' program run "$tmp/all.lua" "$tmp/page.html" --base https://h/d/page
run program run --json "$tmp/all.lua" "$tmp/page.html"
holds run_json '.url == "https://example.org/" and .result == "ok" and .error == null and .skipped and (.fields | length) == 9'
holds run_json_rest '.follow == ["https://example.org/x?a=1", "https://example.org/up"] and (.summary | startswith("one\ntwo"))'
printf 'function page(p)\n  p.x.y = 1\nend\n' >"$tmp/bad.lua"
complains run_error 3 "bad:2: attempt to index a nil value (field 'x')" program run "$tmp/bad.lua" "$tmp/page.html"
run program run --json "$tmp/bad.lua" "$tmp/page.html"
holds run_error_json '.result == "invalid" and (.error | startswith("bad:2: ")) and .fields == []'
printf 'while true do end' >"$tmp/endless.lua"
complains run_endless 3 'endless:1: more than' program run "$tmp/endless.lua" "$tmp/page.html"
printf 'function page(p) return os.exit() end' >"$tmp/os.lua"
complains run_os 3 "attempt to index a nil value (global 'os')" program run "$tmp/os.lua" "$tmp/page.html"
printf 'x = 1' >"$tmp/none.lua"
complains run_no_page 3 'there is no function page(p)' program run "$tmp/none.lua" "$tmp/page.html"
printf '\033Lua' >"$tmp/binary.lua"
complains run_binary 3 "binary chunk" program run "$tmp/binary.lua" "$tmp/page.html"
complains run_no_file 4 'No such file' program run "$tmp/nothing.lua" "$tmp/page.html"
complains run_usage 2 'usage: orb program run FILE URL' program run "$tmp/all.lua"
complains program_verb 2 'neither run, sign' program walk "$tmp/all.lua"
# The example programs, each on a page.
for name in prices articles thin next-pages abstracts; do
    run program run "$top/data/programs/$name.lua" "$tmp/page.html"
    if [ "$code" = 0 ]; then ok "example_$name"; else not_ok "example_$name" "$(cat "$err")"; fi
done
gives example_says 0 'field currency EUR
field price 12.5' program run "$top/data/programs/prices.lua" "$tmp/page.html"

# ---- signing ----
run program sign --key "$tmp/secret" --serial 7 "$tmp/all.lua"
cp "$out" "$tmp/all.orb"
has sign_head 'orb-program 1' "$out"
has sign_name 'name: all' "$out"
has sign_serial 'serial: 7' "$out"
has sign_key "key: $(sed -n 's/^key //p' "$tmp/public")" "$out"
run program run --json "$tmp/all.orb" "$tmp/page.html"
holds signed_program_runs '.result == "ok" and (.fields | length) == 9'
run program sign --key "$tmp/secret" --json "$tmp/all.orb"
holds sign_again '.name == "all" and .serial > 1700000000 and (.program | startswith("orb-program 1\n"))'
complains sign_without_key 2 'no --key' program sign "$tmp/all.lua"
complains sign_compiled 3 'compiled' program sign --key "$tmp/secret" "$tmp/binary.lua"
head -c 300000 /dev/zero | tr '\0' ' ' >"$tmp/large.lua"
complains sign_large 3 'larger than 256 KiB' program sign --key "$tmp/secret" "$tmp/large.lua"

# ---- pages from the web ----
serve_sample
seed=$(head -n 1 "$tmp/seeds")
complains private_is_refused 1 'allow-private' program run "$tmp/all.lua" "$seed" --hosts "$tmp/hosts"
printf 'function page(p) emit{url = p.url, status = p.status, links = #p.links > 0, type = p.headers["content-type"]} end' >"$tmp/web.lua"
run program run --json "$tmp/web.lua" "$seed" --hosts "$tmp/hosts" --allow-private
holds run_url '.result == "ok" and .status == 200 and (.fields | map(select(.name == "links")) | .[0].value) == "true"'
complains robots_are_obeyed 1 "robots.txt does not allow it: Disallow: /private/" program run "$tmp/web.lua" "http://harbour.example:$port/private/x" --hosts "$tmp/hosts" \
    --allow-private
complains no_such_host 4 'no such host' program run "$tmp/all.lua" http://nowhere.invalid/ --hosts "$tmp/hosts" --resolver 127.0.0.1:9
complains other_scheme 3 'not an http(s) URL' program run "$tmp/all.lua" ftp://h/
exit $failed
