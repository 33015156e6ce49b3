#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# Programs travel: signed off-line, pushed, run by real agents on the pages of a channel. A version that fails is left for the one before
# it, also after a restart; a version is rolled back; what no key of the owner's has signed is refused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"

serve_sample --spread --part calm
key=$("$orb" key new --program "$tmp/key" --json | jq -r .key)
other=$("$orb" key new --program "$tmp/other.key" --json | jq -r .key)
check keys_differ "$key $other" [ "$key" != "$other" ]
sign() { # SERIAL KEYFILE: the script from standard input
    cat >"$tmp/shape.lua"
    "$orb" program sign --key "$2" --serial "$1" "$tmp/shape.lua" >"$tmp/shape-$1.orb"
}
sign 1 "$tmp/key" <<'L'
function page(p)
  emit { version = "one", type = p.headers["content-type"] }
  if p.title:find("tide") then skip() end
end
L
start_coordinator || exit 4
start_agent athens --program-key "$key"
# Its owner runs nobody's programs.
start_agent bergen
: >"$tmp/push.err"
push() { # FILE
    "$orb" program push "$1" --data "$tmp/fleet" --json 2>"$tmp/push.err"
}
for _ in $(seq 100); do
    [ "$("$orb" agent list --data "$tmp/fleet" --json | jq '[.agents[] | select(.state == "there")] | length')" = 2 ] && break
    sleep 0.1
done
check a_program_is_pushed "$(cat "$tmp/push.err")" [ "$(push "$tmp/shape-1.orb" | jq .agents)" = 2 ]
status() { # JQ
    "$orb" program status --data "$tmp/fleet" --json | jq -r "$1"
}
wait_status() { # JQ WANT
    for _ in $(seq 200); do
        [ "$(status "$1")" = "$2" ] && return 0
        sleep 0.1
    done
    return 1
}
wait_status '.runners[0].agent' athens
check only_willing_agents_take_it "$(status .)" [ "$(status '[.runners[].agent] | join(" ")')" = athens ]
says_no() { [ -n "$("$orb" agent show bergen --data "$tmp/fleet" --json | jq -r '.refused | join("; ")')" ]; }
await 30 says_no
refused=$("$orb" agent show bergen --data "$tmp/fleet" --json | jq -r '.refused | join("; ")')
check an_unwilling_agent_says_so "said: $refused" [ "$refused" != "" ]

url=$(grep harbour "$tmp/seeds")
id=$("$orb" channel add "$url" --data "$tmp/fleet" --program shape --agent athens --every 0 --json | jq -r .id)
sleep 1
wait_quiet 60
pages() { # HOST: how many have a version, and which
    "$orb" export --data "$tmp/fleet" | grep "//$1" | jq -r '.fields.version // "none"' | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }'
}
skipped=$("$orb" export --data "$tmp/fleet" | jq -r 'select(.robots | index("skipped")) | .url' | wc -l)
asked=$(status '.runners[0].pages')
# Documents that are not pages have none, nor what was skipped.
check fields_reach_the_coordinator "$asked pages were asked about, $skipped skipped: $(pages harbour)" \
    [ "$("$orb" export --data "$tmp/fleet" | jq -r '.fields.version // "none"' | grep -cx one)" = $((asked - skipped)) ]
type=$("$orb" export --data "$tmp/fleet" | jq -r '.fields.type // empty' | sort -u)
check headers_reach_the_program "content-type: $type" [ "${type#text/html}" != "$type" ]
found=$("$orb" search --data "$tmp/fleet" --json 'field:version=one' | jq .total)
check fields_can_be_searched "$found found of $asked" [ "$found" -gt 0 ]
check a_page_is_skipped "of $asked none was" [ "$skipped" -gt 0 ]
check a_skipped_page_is_not_searchable "$skipped skipped, $found of $asked found" [ $((found + skipped)) -le "$asked" ]

# A version with an error on every page: five pages, and the one before it goes on.
sign 2 "$tmp/key" <<'L'
function page(p) error("no good") end
L
push "$tmp/shape-2.orb" >/dev/null
wait_status '.runners[0].serial' 2
"$orb" channel remove "$id" --data "$tmp/fleet" >/dev/null
url=$(grep museum "$tmp/seeds")
id=$("$orb" channel add "$url" --data "$tmp/fleet" --program shape --agent athens --every 0 --json | jq -r .id)
sleep 1
wait_quiet 60
check a_failing_version_is_left "$(status .runners)" wait_status '.runners[0] | "\(.serial) \(.fallback)"' "1 true"
error=$(status '.runners[0].last_error')
check its_error_comes_back "said: $error" [ "${error#*no good}" != "$error" ]
one=$(pages museum | sed -n 's/.*one \([0-9]*\) .*/\1/p')
check pages_go_on_with_the_version_before "$(pages museum)" [ "${one:-0}" -gt 5 ]

# Killed and started again: the failed version does not begin anew.
stop_process "$agent_pid_athens" KILL
start_agent athens --program-key "$key"
sleep 1
check a_failed_version_stays_left "$(status .runners)" wait_status '.runners[0] | "\(.serial) \(.fallback)"' "1 true"

# A better version; then it is rolled back, and the last one that is good goes on.
sign 3 "$tmp/key" <<'L'
function page(p) emit { version = "three" } end
L
push "$tmp/shape-3.orb" >/dev/null
check a_newer_version_takes_over "$(status .runners)" wait_status '.runners[0] | "\(.serial) \(.fallback)"' "3 false"
"$orb" program rollback shape --data "$tmp/fleet" >"$tmp/said"
check a_version_is_rolled_back "$(status .runners)" wait_status '.runners[0].serial' 1
check a_rolled_back_serial_is_not_pushed_again "$(cat "$tmp/push.err")" [ -z "$(push "$tmp/shape-3.orb")" ]
check an_older_serial_is_not_pushed "$(cat "$tmp/push.err")" [ -z "$(push "$tmp/shape-1.orb")" ]

# Signed by somebody else: the coordinator passes it on, the agent does not take it.
sign 9 "$tmp/other.key" <<'L'
function page(p) emit { version = "other" } end
L
push "$tmp/shape-9.orb" >/dev/null
for _ in $(seq 100); do
    refused=$("$orb" agent show athens --data "$tmp/fleet" --json | jq -r '.refused | join("; ")')
    [ "${refused#*signed}" != "$refused" ] && break
    sleep 0.1
done
check a_strange_signature_is_refused "said: $refused" [ "${refused#*signed}" != "$refused" ]
check a_strange_program_is_not_run "$(status .runners)" [ "$(status '.runners[0].serial')" = 1 ]
sed 's/three/seven/' "$tmp/shape-3.orb" >"$tmp/altered.orb"
check an_altered_program_is_refused "$(cat "$tmp/push.err")" [ -z "$(push "$tmp/altered.orb")" ]
exit $failed
