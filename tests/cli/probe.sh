#!/bin/sh
# orb probe, against the sample web and a port that nobody listens on.
. "$(dirname "$0")/lib.sh"

serve_sample
seed=http://harbour.example:$port/

run probe --hosts "$tmp/hosts" --allow-private "$seed"
line=$(cat "$out")
case $line in
"$seed 127."*" tcp: 3 of 3, min "*" ms, median "*" ms") ok tcp ;;
*) not_ok tcp "$code: $line $(cat "$err")" ;;
esac
run probe --json --hosts "$tmp/hosts" --allow-private --samples 5 --gap 1 "$seed"
holds tcp_json '.kind == "tcp" and .status == "ok" and .samples == 5 and .lost == 0 and .min_ms <= .median_ms and (.sample_ms | length) == 5 and .server_ms == null'
holds tcp_address '(.address | startswith("127.")) and .target != .address and .http_status == null'

run probe --json --hosts "$tmp/hosts" --allow-private --kind head --samples 2 --gap 1 "$seed"
holds head_json '.kind == "head" and .status == "ok" and .samples == 2 and .server_ms >= 0 and .http_status == 200'
gives robots_is_obeyed 1 "${seed}private/x 127.0.0.1 head: disallowed by robots.txt" \
    probe --hosts "$tmp/hosts" --allow-private --kind head --gap 1 "${seed}private/x"
run probe --json --hosts "$tmp/hosts" --allow-private --kind head --gap 1 "${seed}private/x"
holds robots_json '.status == "disallowed" and .samples == 0 and .min_ms == null'

run probe --json --hosts "$tmp/hosts" --allow-private --kind all --samples 1 --gap 1 "$seed"
if [ "$code" = 0 ] && [ "$(jq -r .kind "$out" | tr '\n' ' ')" = "tcp icmp head " ]; then ok all; else not_ok all "$code: $(cat "$out" "$err")"; fi

# A host, an address, a port; a refused connection is an answer too.
run probe --json --allow-private --port "$port" --samples 1 127.0.0.1
holds address '.address == "127.0.0.1" and .status == "ok"'
run probe --json --allow-private --samples 1 "127.0.0.1:$port"
holds address_and_port '.address == "127.0.0.1" and .status == "ok"'
run probe --json --allow-private --samples 1 --port 1024 127.0.0.1
holds closed_port '.status == "ok" and .samples == 1'
run probe --json --hosts "$tmp/hosts" --allow-private --samples 1 --gap 1 "$seed" "http://museum.example:$port/"
if [ "$code" = 0 ] && [ "$(wc -l <"$out")" = 2 ]; then ok two_targets; else not_ok two_targets "$code: $(cat "$out" "$err")"; fi

complains private_is_refused 1 'allow-private' probe 127.0.0.1
complains reserved_is_refused 1 'reserved' probe --allow-private 240.0.0.1
complains mail_is_refused 1 'port' probe --allow-private --port 25 127.0.0.1
complains no_such_host 4 'no such host' probe --hosts "$tmp/hosts" nowhere..invalid
complains no_target 3 'neither an http(s) URL nor a host' probe ftp://example.org/
complains kind 2 'is not one of tcp, head, icmp, all' probe --kind walk example.org
complains samples 2 'out of range' probe --samples 17 example.org
run probe --json --allow-private --samples 1 --port "$port" 127.0.0.1 127.0.0.1:25
if [ "$code" = 1 ]; then ok a_part_is_exit_code_1; else not_ok a_part_is_exit_code_1 "$code"; fi
# Several at a time: all are measured, and no two at one address at a time.
run probe --json --allow-private --samples 2 --gap 1 --at-once 3 --port "$port" 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1
if [ "$code" = 0 ] && [ "$(jq -r .status "$out" | grep -c ok)" = 4 ]; then ok at_once; else not_ok at_once "$code: $(cat "$out" "$err")"; fi
exit $failed
