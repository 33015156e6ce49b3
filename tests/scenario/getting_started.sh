#!/bin/sh
# docs/getting-started.md, followed to the letter: each command of its ```sh blocks is run in one shell, in order; those "in a terminal of
# its own" stay there. A block of output after them is compared: every line of it has come, whatever its numbers are. The programs are
# those of the build folder; the port of the sample web is the one that the demo drew.
. "$(dirname "$0")/lib.sh"
guide=$top/docs/getting-started.md
unset ORB_CONFIG
export HOME="$tmp/home"
mkdir -p "$tmp/bin" "$tmp/home" "$tmp/blocks" "$tmp/work"
for program in src/cli/orb src/agent/orb-agent; do ln -s "$build/$program" "$tmp/bin/"; done
PATH="$tmp/bin:$PATH"
export PATH

# blocks/NN.KIND: sh, own (a terminal of its own), skip, and NN.out for what an output block shows of the one before it.
awk -v dir="$tmp/blocks" '
    /^<!-- not run/ { kind = "skip"; next }
    /^<!-- in a terminal of its own/ { kind = "own"; next }
    /^```/ && inside { close(file); inside = 0; next }
    /^```sh$/ { n++; file = sprintf("%s/%02d.%s", dir, n, kind == "" ? "sh" : kind); kind = ""; inside = 1; printf "" >file; next }
    /^```$/ { file = sprintf("%s/%02d.out", dir, n); inside = 1; printf "" >file; next }
    inside { print >file }' "$guide"
# Ports that the guide names may be somebody's on this machine.
ports_from=$((20000 + $$ % 10000))
sed -i -e "s/\b8090\b/$ports_from/g" -e "s/\b8443\b/$((ports_from + 1))/g" -e "s/\b8081\b/$((ports_from + 2))/g" "$tmp"/blocks/*
count=$(find "$tmp/blocks" -name '*.sh' -o -name '*.own' | wc -l)
check guide_has_commands "$count blocks" [ "$count" -ge 12 ]

# Numbers become #, with the units of sizes; a line of the guide must be among those that came.
plain() { sed -e 's/[0-9][0-9,.]*/#/g' -e 's/ *# *[kMG]*B*/ #/g' -e 's/  */ /g' -e 's/^ //; s/ $//'; }
shown_came() { # NAME WANT GOT
    plain <"$2" | grep -vE '^(\.\.\.)?$' >"$tmp/want"
    plain <"$3" >"$tmp/got"
    missing=$(grep -vxFf "$tmp/got" "$tmp/want" | head -n 1)
    check "$1" "the guide shows \"$missing\"; came: $(head -n 3 "$3" | tr '\n' '|')" [ -z "$missing" ]
}
wait_shown() { # WANT GOT: for up to a minute
    plain <"$1" | grep -vE '^(\.\.\.)?$' >"$tmp/want"
    for _ in $(seq 300); do
        plain <"$2" >"$tmp/got"
        grep -qvxFf "$tmp/got" "$tmp/want" || return 0
        sleep 0.2
    done
}

# One shell that all blocks go through, as a person's would: it reads them from a pipe and says when each is done.
cd "$tmp/work" || exit 4
mkfifo "$tmp/pipe"
sh <"$tmp/pipe" >"$tmp/shell.out" 2>&1 &
pids="$pids $!"
exec 9>"$tmp/pipe"
for block in "$tmp"/blocks/*.sh "$tmp"/blocks/*.own; do echo "$block"; done | LC_ALL=C sort >"$tmp/list"
own=""
while read -r block; do
    number=$(basename "$block")
    number=${number%.*}
    sed -i "s/^PORT=35605$/PORT=${port:-0}/" "$block"
    if [ "${block##*.}" = own ]; then
        # What it prints goes to a file; it is ended when the test ends.
        sed 's/^/exec /' "$block" >"$tmp/$number.script"
        sh "$tmp/$number.script" >"$tmp/$number.got" 2>&1 9>&- </dev/null &
        pids="$pids $!"
        own="$own $!"
        [ ! -f "$tmp/blocks/$number.out" ] || wait_shown "$tmp/blocks/$number.out" "$tmp/$number.got"
        [ -n "${port:-}" ] || port=$(sed -n 's/.*served on 127.0.0.1, port \([0-9]*\).*/\1/p' "$tmp/$number.got")
    else
        {
            echo "exec 3>&1 4>&2 >'$tmp/$number.got' 2>&1"
            echo "bad=0"
            sed 's/$/ || bad=1/' "$block"
            echo "exec >&3 2>&4; echo \$bad >'$tmp/$number.code'"
        } >&9
        for _ in $(seq 1200); do
            [ -s "$tmp/$number.code" ] && break
            sleep 0.1
        done
        check "block_${number}_does_what_it_says" "$(tail -n 2 "$tmp/$number.got" | tr '\n' '|')" [ "$(cat "$tmp/$number.code" 2>/dev/null)" = 0 ]
    fi
    [ ! -f "$tmp/blocks/$number.out" ] || shown_came "block_${number}_shows_what_comes" "$tmp/blocks/$number.out" "$tmp/$number.got"
done <"$tmp/list"
for p in $own; do
    kill -0 "$p" 2>/dev/null || not_ok "what_has_a_terminal_stays" "one has ended: $(tail -n 1 "$tmp"/*.got | tail -n 1)"
done
exec 9>&-
if [ "${KEEP:-}" ]; then cp "$tmp"/*.got "$KEEP/"; fi
exit $failed
