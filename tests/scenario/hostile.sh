#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# An agent that was let in and means harm: it can spoil what it was given, and nothing else. One that lies about its pages is found out
# by another agent's look, demoted, and what it had is crawled anew. Honest agents with pages that change all the time are not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
hostile=${HOSTILE:-$(find_program hostile tests/scenario)} || exit 4
memory_max_kib=$((256 * 1024)) # as in strangers.sh

# What is in a folder, page by page: address, digest of the text, title.
said_of() { "$orb" export --data "$1" | jq -r '"\(.url) \(.digest) \(.title | tojson)"' | LC_ALL=C sort; }
not_of() { grep -vE "^http://($1)\\.example[:/]"; } # HOST|HOST...: lines about other hosts
line_for() { "$orb" agent add "$1" --data "$tmp/fleet" --json | jq -r .line | sed 's/.*--join //'; }
hits() { # WORD: addresses that are found
    curl -sSf --max-time 20 -o "$tmp/hits" "http://127.0.0.1:$fleet_port/api/v1/search?q=$1" 2>"$tmp/err" || echo "no answer: $(cat "$tmp/err")"
    jq -r '.results[].url' "$tmp/hits"
}
owners() { "$orb" network list --data "$tmp/fleet" --json | jq -r '.networks[] | select(.network | startswith("127.1.")) | "\(.network) \(.agent) \(.names | sort | join(","))"' | LC_ALL=C sort; }
memory_kib() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$fleet_pid/status"; }
trust_of() { "$orb" agent list --data "$tmp/fleet" --json | jq -r --arg n "$1" ".agents[] | select(.name == \$n) | $2"; }
begin() { # COORDINATOR-OPTION...: a new fleet
    rm -rf "$tmp/fleet" "$tmp/athens" "$tmp/bergen" "$tmp/cairo"
    fleet_port=""
    : >"$tmp/fleet.log"
    control /__clear >/dev/null
    start_coordinator "$@" || exit 4
}
end() {
    stop_process "$fleet_pid"
    for a in athens bergen cairo mallory; do
        eval "[ -n \"\${agent_pid_$a:-}\" ] && stop_process \$agent_pid_$a"
        eval "agent_pid_$a="
    done
}
start_hostile() { # MODE: it waits for $tmp/go
    rm -f "$tmp/go"
    "$hostile" "$1" "$(line_for mallory)" "$tmp/hosts" "$tmp/pages" "$tmp/go" >"$tmp/mallory.out" 2>&1 &
    agent_pid_mallory=$!
    pids="$pids $!"
}

serve_sample --no-sites --big 400 --big-hosts 20 --spread --latency 10 --part big
"$orb" crawl --data "$tmp/alone" --hosts "$tmp/hosts" --seeds "$tmp/seeds" --allow-private --delay 0 --quiet 2>"$tmp/err"
said_of "$tmp/alone" >"$tmp/want"
"$orb" export --data "$tmp/alone" | jq -r '"\(.url) \(.digest) \(.title)"' | LC_ALL=C sort >"$tmp/pages"
want=$(wc -l <"$tmp/want")
# Names of sites that nobody knows lead somewhere, so that whoever is sent there comes back.
awk 'BEGIN { for (i = 0; i < 400; i++) printf "127.200.%d.1 new%d.invalid\n", i % 250, i }' >>"$tmp/hosts"

# ---- spoiling ----
begin --discover
start_agent athens
start_agent bergen
# big16 and big17 are the hostile agent's; so is big19, which shares a channel with big18, which is not.
n=0
while read -r url; do
    case $n in
    16 | 17) ;;
    18) shared=$url ;;
    19) shared="$shared $url" ;;
    *)
        who=athens
        [ $((n % 2)) -eq 0 ] && who=bergen
        "$orb" channel add "$url" --agent $who --data "$tmp/fleet" >/dev/null
        ;;
    esac
    n=$((n + 1))
done <"$tmp/seeds"
# shellcheck disable=SC2086
"$orb" channel add $shared --data "$tmp/fleet" >/dev/null
network_of() { sed -n "s/^\\(127\\.[0-9]*\\.[0-9]*\\)\\.[0-9]* $1\\.example\$/\\1.0\\/24/p" "$tmp/hosts"; }
settle() { # HOST AGENT: its network is there
    "$orb" network move "$(network_of "$1")" "$2" --data "$tmp/fleet" >/dev/null 2>&1
    for _ in $(seq 100); do
        [ "$("$orb" network list --data "$tmp/fleet" --json | jq -r --arg n "$(network_of "$1")" '.networks[] | select(.network == $n) | "\(.agent) \(.state)"')" = "$2 owned" ] && return
        sleep 0.1
    done
    not_ok "${1}_is_with_$2" "it is not"
}
start_hostile spoil
for _ in $(seq 50); do
    [ "$(trust_of mallory .joined)" = true ] && break
    sleep 0.1
done
settle big18 athens
settle big19 mallory
for n in 16 17; do
    "$orb" channel add "$(sed -n "$((n + 1))p" "$tmp/seeds")" --agent mallory --data "$tmp/fleet" >/dev/null
    settle big$n mallory
done
owners >"$tmp/owners"
: >"$tmp/go"
for _ in $(seq 600); do
    grep -q '^done' "$tmp/mallory.out" && break
    kill -0 "$agent_pid_mallory" 2>/dev/null || break
    sleep 0.1
done
grep -v '^done' "$tmp/mallory.out"
check every_harm_was_tried "$(tail -n 1 "$tmp/mallory.out")" grep -q '^done' "$tmp/mallory.out"
wait_quiet 60
check crawl_goes_on_beside_a_hostile_agent "not quiet after a minute: $(overview .)" [ "$quiet" -ge 12 ]

its='big16|big17|big19'
not_of "$its" <"$tmp/want" >"$tmp/want.others"
said_of "$tmp/fleet" >"$tmp/got"
not_of "$its|new[0-9]*" <"$tmp/got" >"$tmp/got.others"
check only_its_own_pages_are_spoilt "$(wc -l <"$tmp/got.others") of $(wc -l <"$tmp/want.others"): $(diff "$tmp/want.others" "$tmp/got.others" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want.others" "$tmp/got.others"
check pages_of_others_are_not_found "$(hits xyzzyspam | head -n 3 | tr '\n' ' ')" [ -z "$(hits xyzzyspam)" ]
check its_own_pages_are_its_own "$(hits xyzzyown | tr '\n' ' ')" [ "$(hits xyzzyown | not_of "$its" | wc -l) $(hits xyzzyown | head -n 1 | wc -l)" = "0 1" ]
owners >"$tmp/owners.now"
check nobody_loses_a_network_to_it "$(diff "$tmp/owners" "$tmp/owners.now" | head -n 4 | tr '\n' ' ')" cmp -s "$tmp/owners" "$tmp/owners.now"
found=$("$orb" channel list --data "$tmp/fleet" --json | jq '[.channels[] | select(.label | startswith("new"))] | length')
check new_sites_a_package_are_capped "$found became channels" [ $((found > 0 && found <= 100)) -eq 1 ]
dropped=$(trust_of mallory .trust.visits_dropped)
check dropped_visits_are_counted "$dropped" [ "${dropped:-0}" -ge 600 ]
check dropped_visits_are_logged "no such line" grep -q "none of the agent's business" "$tmp/fleet.log"
check no_field_without_a_program "some are found" [ "$("$orb" export --data "$tmp/fleet" | jq -r 'select(.fields != null) | .url' | wc -l)" -eq 0 ]
code=$(curl -sS -o "$tmp/odd" -w "%{http_code} in %{time_total} s" --max-time 20 "http://127.0.0.1:$fleet_port/api/v1/search?q=word0" 2>&1)
check odd_bytes_do_not_break_answers "$code: $(head -c 200 "$tmp/odd")" [ "$(jq -r '.results | length > 0' "$tmp/odd")" = true ]
check odd_bytes_do_not_reach_the_log "there are some" [ "$(LC_ALL=C grep -c "$(printf '\033')" "$tmp/fleet.log")" -eq 0 ]
lines=$(wc -l <"$tmp/fleet.log")
check hostile_log_stays_short "$lines lines" [ "$lines" -le 1000 ]
memory=$(memory_kib)
echo "# memory of the coordinator: $memory KiB at most, log of $lines lines, $(control /__ledger | grep -c junk) requests for pages that links made up"
check hostile_memory_stays_bounded "$memory KiB" [ "${memory:-999999999}" -le $memory_max_kib ]
end
check_well() { # NAME: what is there checks out
    "$orb" check --data "$tmp/fleet" --no-repair --json >"$tmp/check" 2>&1
    check "$1" "$(cat "$tmp/check")" [ "$(jq -r .well "$tmp/check")" = true ]
}
check_well spoilt_folder_is_well
# Everything is gathered now: of the twenty thousand names that one site gave to a page, one counts.
found_in() { "$orb" search --data "$tmp/fleet" --json "$1" | jq -r ".results[].url"; }
check a_site_names_a_page "$(found_in xyzzyanchor0 | tr "\n" " ")" [ "$(found_in xyzzyanchor0 | wc -l)" -eq 1 ]
spam=""
for n in 1 4999 5000 5004 9996 10000 19996; do spam="$spam$(found_in xyzzyanchor$n)"; done
check and_names_it_once "$spam" [ -z "$spam" ]

# ---- lying ----
begin --check-every 10 --lease 2s
start_hostile lie
start_agent athens
start_agent bergen
for a in mallory athens bergen; do
    for _ in $(seq 50); do
        [ "$(trust_of $a .presence)" = there ] && break
        sleep 0.1
    done
done
# Some as texts, some as words: of words nobody can tell the digest, and the liar gives the right one.
sed -n "1~2p" "$tmp/seeds" >"$tmp/seeds.text"
sed -n "2~2p" "$tmp/seeds" >"$tmp/seeds.words"
"$orb" channel import "$tmp/seeds.text" --data "$tmp/fleet" --every 0 >/dev/null
"$orb" channel import "$tmp/seeds.words" --kind keywords --data "$tmp/fleet" --every 0 >/dev/null
for _ in $(seq 100); do
    [ "$("$orb" network list --data "$tmp/fleet" --json | jq '[.networks[] | select(.state == "owned")] | length')" -eq 20 ] && break
    sleep 0.1
done
: >"$tmp/go"
for _ in $(seq 400); do
    [ "$(trust_of mallory .trust.demoted)" = true ] && break
    sleep 0.1
done
echo "# $(cat "$tmp/mallory.out")"
check a_liar_is_demoted "$(trust_of mallory '.trust | tostring')" [ "$(trust_of mallory .trust.demoted)" = true ]
check a_liar_is_never_confirmed "$(trust_of mallory .trust.checks_good) of its lies were" [ "$(trust_of mallory .trust.checks_good)" = 0 ]
check a_demotion_is_logged "no such line" grep -q 'trust: demoted.*agent=mallory' "$tmp/fleet.log"
check a_lie_is_logged "no such line" grep -q 'trust: another agent finds another page agent=mallory url=http' "$tmp/fleet.log"
wait_quiet 60
check what_a_liar_had_is_crawled_anew "not quiet after a minute: $(overview .)" [ "$quiet" -ge 12 ]
check a_liar_keeps_nothing "$(trust_of mallory .networks) networks" [ "$(trust_of mallory .networks)" = 0 ]
check honest_agents_are_believed "$(trust_of athens '.trust | tostring') $(trust_of bergen '.trust | tostring')" \
    [ "$(trust_of athens .trust.demoted)$(trust_of athens .trust.checks_bad)$(trust_of bergen .trust.demoted)$(trust_of bergen .trust.checks_bad)" = false0false0 ]
said_of "$tmp/fleet" >"$tmp/got"
check no_lie_is_left "$(wc -l <"$tmp/got") of $want: $(diff "$tmp/want" "$tmp/got" | head -n 3 | tr '\n' ' ')" cmp -s "$tmp/want" "$tmp/got"
check no_lie_is_found "$(hits xyzzylie | head -n 3 | tr '\n' ' ')" [ -z "$(hits xyzzylie)" ]
end
check_index no_lie_is_in_the_index "$tmp/fleet" "$want"
stop_sample

# ---- honest, with pages that change ----
serve_sample --spread --part calm
begin --check-every 1
for a in athens bergen cairo; do start_agent $a; done
for a in athens bergen cairo; do
    for _ in $(seq 50); do
        [ "$(trust_of $a .presence)" = there ] && break
        sleep 0.1
    done
done
"$orb" channel import "$tmp/seeds" --data "$tmp/fleet" --every 0 >/dev/null
wait_quiet 60
check honest_fleet_finishes "not quiet after a minute: $(overview .)" [ "$quiet" -ge 12 ]
for _ in $(seq 100); do # every page is looked at again
    good=$("$orb" agent list --data "$tmp/fleet" --json | jq '[.agents[].trust.checks_good] | add')
    [ "${good:-0}" -ge 200 ] && break
    sleep 0.2
done
bad=$("$orb" agent list --data "$tmp/fleet" --json | jq '[.agents[].trust.checks_bad] | add')
echo "# pages that change: $good looks found the same page, $bad another one"
check honest_pages_are_confirmed "$good were" [ "${good:-0}" -ge 200 ]
check changing_pages_are_no_lies "$bad strikes: $(grep 'another page' "$tmp/fleet.log" | head -n 2)" [ "${bad:-1}" -eq 0 ]
end
exit $failed
