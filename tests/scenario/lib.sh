# lib.sh - what the scenario scripts share. Sourced, never run.
#
# Prints "ok NAME" / "not ok NAME reason"; everything a script starts is stopped by its process id when it ends.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-build}
case $build in /*) ;; *) build=$top/$build ;; esac

find_program() { # NAME FOLDER: in the build folder itself or below it
    for p in "$build/$1" "$build/$2/$1"; do
        if [ -x "$p" ]; then
            echo "$p"
            return
        fi
    done
    echo "$0: $build/$1 is missing: run make first" >&2
    exit 4
}
orb=${ORB:-$(find_program orb src/cli)} || exit 4
orb_sample=${ORB_SAMPLE:-$(find_program orb-sample src/sample)} || exit 4

# Settings of the person who runs the tests must not reach them.
export ORB_CONFIG=/dev/null
unset http_proxy https_proxy all_proxy
tmp=$(mktemp -d "${TMPDIR:-/tmp}/orb-scenario.XXXXXX")
pids=""
failed=0

cleanup() {
    for p in $pids; do kill "$p" 2>/dev/null; done
    for p in $pids; do wait "$p" 2>/dev/null; done
    chmod -R u+w "$tmp" 2>/dev/null
    rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP PIPE

ok() { echo "ok $1"; }
not_ok() { # NAME REASON
    echo "not ok $1 $2"
    failed=1
}
check() { # NAME REASON COMMAND...: ok when the command succeeds
    name=$1 reason=$2
    shift 2
    if "$@"; then ok "$name"; else not_ok "$name" "$reason"; fi
}

# Waits until the command succeeds, for so many seconds at most. What takes a second here takes ten on a busy machine.
await() { # SECONDS COMMAND...
    await_until=$(($(date +%s) + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $await_until ] || return 1
        sleep 0.2
    done
}

# The index of a finished crawl holds so many pages, each once, and everything in it checks out.
check_index() { # NAME FOLDER PAGES
    "$orb" check --data "$2" --no-repair --json >"$tmp/check" 2>&1
    check "$1" "$3 pages wanted: $(cat "$tmp/check")" [ "$(jq -r '"\(.well) \(.index_docs)"' "$tmp/check")" = "true $3" ]
}

# Starts the sample web with the options given; sets port, $tmp/hosts, $tmp/seeds, $tmp/expected. One at a time.
serve_sample() {
    : >"$tmp/sample.out"
    "$orb_sample" --hosts-out "$tmp/hosts" --seeds-out "$tmp/seeds" --expected-out "$tmp/expected" "$@" >"$tmp/sample.out" &
    sample_pid=$!
    pids="$pids $sample_pid"
    for _ in $(seq 1200); do
        port=$(sed -n 's/^port //p' "$tmp/sample.out")
        [ -n "$port" ] && return 0
        kill -0 "$sample_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "$0: the sample web did not start" >&2
    exit 4
}
stop_sample() {
    kill "$sample_pid" 2>/dev/null
    wait "$sample_pid" 2>/dev/null
}
control() { # PATH: asks the control host
    curl -s --max-time 20 -H 'Host: control.example' "http://127.0.0.1:$port$1"
}

# Good pages of a data folder, one URL a line, sorted.
pages_of() { "$orb" export --data "$1" | jq -r .url | LC_ALL=C sort; }

# A number below N by the seeded generator: the same points at each run.
random_state=${SEED:-20261}
random_below() {
    random_state=$(((random_state * 1103515245 + 12345) % 2147483648))
    random=$((random_state / 65536 % $1))
}
