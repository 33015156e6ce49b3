# lib.sh - what the command-line tests share. Sourced, never run.
#
# Prints "ok NAME" / "not ok NAME reason". Everything a script starts is stopped by its process id when it ends.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
case $build in
/*) ;;
*) build=$top/$build ;;
esac
orb=${ORB:-$build/src/cli/orb}
orb_sample=${ORB_SAMPLE:-$build/src/sample/orb-sample}
if [ ! -x "$orb" ]; then
    echo "$0: $orb is missing: run make first" >&2
    exit 4
fi

# Settings of the person who runs the tests must not reach them.
for name in $(env | sed -n 's/^\(ORB_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset http_proxy https_proxy all_proxy XDG_CONFIG_HOME NO_COLOR
export LC_ALL=C.UTF-8
tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-cli.XXXXXX")
export HOME="$tmp"
cd "$tmp" || exit 4
pids=""
failed=0

cleanup() {
    for p in $pids; do kill "$p" 2>/dev/null; done
    for p in $pids; do wait "$p" 2>/dev/null; done
    chmod -R u+w "$tmp" 2>/dev/null
    cd /
    rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

ok() { echo "ok $1"; }
not_ok() { # NAME REASON
    echo "not ok $1 $2"
    failed=1
}

# Runs orb with the arguments; sets code, and out and err to files.
out=$tmp/.out
err=$tmp/.err
run() {
    timeout 120 "$orb" "$@" >"$out" 2>"$err"
    code=$?
}

# NAME CODE STDOUT ARG...: the exit code and the whole of standard output.
gives() {
    name=$1 want_code=$2 want=$3
    shift 3
    run "$@"
    if [ "$code" != "$want_code" ]; then
        not_ok "$name" "exit code $code, want $want_code: $(head -n 1 "$err")"
    elif [ "$(cat "$out")" != "$want" ]; then
        not_ok "$name" "printed \"$(head -n 3 "$out")\", want \"$want\""
    else
        ok "$name"
    fi
}

# NAME CODE TEXT ARG...: the exit code, and one line on standard error that begins with "orb: " and holds the text.
complains() {
    name=$1 want_code=$2 want=$3
    shift 3
    run "$@"
    line=$(tail -n 1 "$err")
    case $line in
    "orb: "*"$want"*) fine=1 ;;
    *) fine=0 ;;
    esac
    if [ "$code" != "$want_code" ]; then
        not_ok "$name" "exit code $code, want $want_code: $line"
    elif [ $fine = 0 ]; then
        not_ok "$name" "said \"$line\", want \"$want\""
    else
        ok "$name"
    fi
}

# NAME FILTER: the jq filter is true of what the last run printed.
holds() {
    if [ -s "$out" ] && jq -e "$2" "$out" >/dev/null 2>&1; then ok "$1"; else not_ok "$1" "not so: $2: $(head -c 300 "$out")"; fi
}

# NAME TEXT FILE
has() {
    if grep -qF -- "$2" "$3"; then ok "$1"; else not_ok "$1" "no \"$2\" in: $(head -n 5 "$3")"; fi
}

# NAME TEXT FILE
lacks() {
    if grep -qF -- "$2" "$3"; then not_ok "$1" "\"$2\" is in: $(head -n 5 "$3")"; else ok "$1"; fi
}

# Starts the sample web with the options given; sets port, and $tmp/hosts, $tmp/seeds, $tmp/expected.
serve_sample() {
    : >"$tmp/sample.out" # one of before has another port
    "$orb_sample" --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" "$@" >"$tmp/sample.out" &
    pids="$pids $!"
    wait_for_line "$tmp/sample.out" "port "
    port=$(sed -n 's/^port //p' "$tmp/sample.out")
}

wait_for_line() { # FILE TEXT
    for _ in $(seq 200); do
        grep -q "$2" "$1" 2>/dev/null && return 0
        sleep 0.05
    done
    echo "$0: $1: no \"$2\" came" >&2
    exit 4
}
