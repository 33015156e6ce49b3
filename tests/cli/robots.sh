#!/bin/sh
. "$(dirname "$0")/lib.sh"

cat >"$tmp/robots.txt" <<'END'
# a file
User-agent: *
Disallow: /private
Allow: /private/open$
Crawl-delay: 2

User-agent: OtherBot
Disallow: /
END
gives allows 0 allow robots "$tmp/robots.txt" orbweaver /public
gives disallows 1 disallow robots "$tmp/robots.txt" orbweaver http://h/private/x
gives longest_match 0 allow robots "$tmp/robots.txt" orbweaver https://h/private/open
gives whole_agent_line 1 disallow robots "$tmp/robots.txt" 'otherbot/2.0 (+https://h/)' /public
gives several 1 "allow
disallow" robots "$tmp/robots.txt" orbweaver /a /private
gives robots_txt_itself 0 allow robots "$tmp/robots.txt" otherbot /robots.txt
gives explains 1 "disallow	line 3: Disallow: /private
allow	no rule matches" robots "$tmp/robots.txt" orbweaver --explain /private/x /a
run robots "$tmp/robots.txt" orbweaver --json /private/x
holds json '.verdict == "disallow" and .line == 3 and .url == "/private/x"'
timeout 20 "$orb" robots - orbweaver /private <"$tmp/robots.txt" >"$out"
if [ $? = 1 ] && [ "$(cat "$out")" = disallow ]; then ok standard_input; else not_ok standard_input "$(cat "$out")"; fi
complains not_a_url 3 'not an http(s) URL nor a path' robots "$tmp/robots.txt" orbweaver mailto:x
complains no_file 4 'read ' robots "$tmp/nothing" orbweaver /
exit $failed
