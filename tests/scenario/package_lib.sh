# package_lib.sh - what the tests of the packages share: a copy of this machine to install into, and what a service asked the kernel for,
# against what its unit allows. Sourced after lib.sh.

# ---- a copy of this machine, gone afterwards; root and overlay mounts are needed ----

machine=""
make_machine() {
    mkdir -p "$tmp/machine"
    # shellcheck disable=SC2016
    unshare --mount sh -c '
        mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/copy" &&
        mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/copy" &&
        mount --rbind /proc "$1/copy/proc" && mount --rbind /dev "$1/copy/dev" && mount -t tmpfs tmpfs "$1/copy/run" &&
        echo ready && exec sleep 600' - "$tmp/machine" >"$tmp/machine.out" 2>"$tmp/machine.err" &
    machine_pid=$!
    pids="$pids $machine_pid"
    for _ in $(seq 100); do
        grep -q ready "$tmp/machine.out" && return 0
        kill -0 "$machine_pid" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
# As root, in that copy.
on_machine() { nsenter --mount="/proc/$machine_pid/ns/mnt" chroot "$tmp/machine/copy" "$@"; }
onto_machine() { # PATH, from standard input: keeps what owner and mode it has
    on_machine tee "$1" >/dev/null
}

# ---- units ----

setting() { sed -n "s/^$1=//p" "$unit"; } # of the file $unit
# All names of the sets and calls given, by systemd's own lists.
allowed_calls() { # NAME...
    systemd-analyze syscall-filter 2>/dev/null | awk -v wanted="$*" '
        /^@/ { set = $1; next }
        /^ +[^# ]/ { has[set] = has[set] " " $1 }
        END {
            n = split(wanted, todo, " ")
            for (i = 1; i <= n; i++) {
                if (done[todo[i]]++) continue
                if (todo[i] !~ /^@/) { print todo[i]; continue }
                m = split(has[todo[i]], more, " ")
                for (k = 1; k <= m; k++) todo[++n] = more[k]
            }
        }' | LC_ALL=C sort -u
}
# Names that an "unless" line (~) takes away again.
denied_calls() {
    for word in $(setting SystemCallFilter | sed -n 's/^~//p'); do allowed_calls "$word"; done | LC_ALL=C sort -u
}

# What strace wrote on the machine, against the unit: calls, families of sockets, memory that is written and run, files outside FOLDER.
check_trace() { # LABEL FOLDER
    on_machine cat /trace >"$tmp/trace"
    # The family of a socket, the calls; "resumed" lines are the ends of calls that were seen to begin.
    sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$tmp/trace" | LC_ALL=C sort -u >"$tmp/calls"
    # shellcheck disable=SC2046
    allowed_calls $(setting SystemCallFilter | grep -v '^~') >"$tmp/calls.some"
    denied_calls >"$tmp/calls.not"
    LC_ALL=C comm -23 "$tmp/calls.some" "$tmp/calls.not" >"$tmp/calls.allowed"
    denied=$(LC_ALL=C comm -23 "$tmp/calls" "$tmp/calls.allowed" | tr '\n' ' ')
    check "$1unit_allows_every_call" "not allowed: $denied" [ -z "$denied" ]
    families=$(sed -nE 's/.*[ ]socket\((AF_[A-Z0-9]+),.*/\1/p' "$tmp/trace" | LC_ALL=C sort -u | while read -r f; do
        case " $(setting RestrictAddressFamilies) " in *" $f "*) ;; *) echo "$f" ;; esac
    done)
    check "$1unit_allows_every_socket" "not allowed: $families" [ -z "$families" ]
    executable=$(grep -E 'mmap\(.*PROT_WRITE\|PROT_EXEC|mprotect\(.*PROT_EXEC' "$tmp/trace" | head -n 1)
    check "$1no_memory_is_written_and_run" "$executable" [ -z "$executable" ]
    written=$(grep -E 'open(at)?\(.*O_(WRONLY|RDWR|CREAT)' "$tmp/trace" | grep -v ' = -1 ' | grep -oE '"[^"]*"' | tr -d '"' |
        grep -vE "^($2/|/dev/null\$|/tmp/)" | LC_ALL=C sort -u | head -n 3 | tr '\n' ' ')
    check "$1nothing_is_written_elsewhere" "$written" [ -z "$written" ]
}
