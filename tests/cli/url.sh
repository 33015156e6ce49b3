#!/bin/sh
. "$(dirname "$0")/lib.sh"

gives parses 0 'http://example.org/b' url 'HTTP://EXAMPLE.org:80/a/../b'
gives resolves 0 'http://a/b/d?q#f' url http://a/b/c 'd?q#f'
gives keeps_parameters 0 'http://a/?utm_source=x' url 'http://a/?utm_source=x'
gives normalises 0 'http://a/~x?b=1' url --normalise 'http://a/%7ex?utm_source=x&b=1#f'
gives keeps_on_request 0 'http://a/?utm_source=x' url --normalise --keep-params 'http://a/?utm_source=x'
gives drops_on_request 0 'http://a/?a=1' url --normalise --drop-param 'z*' 'http://a/?a=1&zz=2'
gives failure 3 failure url 'http://a b/'
gives failure_of_base 3 failure url nothing d
gives idna 0 'http://xn--bcher-kva.example/' url 'http://bücher.example'
gives after_dashes 0 'http://a/--b' url http://a/ -- --b
printf 'http://a/b/c\t../d\nhttp://[::1\nhttps://x\n' | timeout 20 "$orb" url - >"$out"
code=$?
printf 'http://a/d\nfailure\nhttps://x/\n' >"$tmp/want"
if [ $code = 3 ] && cmp -s "$out" "$tmp/want"; then ok reads_lines; else not_ok reads_lines "code $code: $(cat "$out")"; fi
run url --json 'https://u:p@h:81/p?q#f'
holds components '. == {href:"https://u:p@h:81/p?q#f",scheme:"https",username:"u",password:"p",host:"h",path:"/p",query:"q",fragment:"f",port:81}'
run url --json mailto:x
holds absent_is_null '.host == null and .port == null and .query == null'
run url --json 'http://a b'
holds json_failure '.failure'
exit $failed
