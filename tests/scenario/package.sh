#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# The Debian package of orb-agent: made twice it is the same bytes; what is in it; installed, it joins a coordinator by the unit's own
# command line, works, is upgraded, removed and purged, and asks the kernel for nothing that the unit forbids.
#
# Installed for real where this may be done (root, overlay mounts): in a copy of this machine's root that is gone afterwards. Else the
# package is only unpacked. FULL=1: compiles it twice too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/agents_lib.sh"
. "$(dirname "$0")/package_lib.sh"
unset ORB_AGENT_CONFIG

# ---- made twice ----

cd "$top" || exit 4
DEB_OUT=$tmp/one tools/make-deb orb-agent >"$tmp/made" 2>&1 || { echo "not ok package_is_made $(tail -n 3 "$tmp/made" | tr '\n' ' ')"; exit 1; }
ok package_is_made
deb=$(echo "$tmp"/one/orb-agent_*.deb)
again=build-deb
[ -z "${FULL:-}" ] || again=build-deb-again
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 DEB_BUILD=$again DEB_FROM="" DEB_OUT=$tmp/two tools/make-deb orb-agent >/dev/null 2>&1)
[ -z "${FULL:-}" ] || rm -rf build-deb-again
check made_twice_it_is_the_same "$(sha256sum "$tmp"/*/*.deb | cut -c 1-16 | tr '\n' ' ')" cmp -s "$deb" "$tmp/two/$(basename "$deb")"

# ---- what is in it ----

root=$tmp/root
dpkg-deb -x "$deb" "$root"
dpkg-deb -e "$deb" "$tmp/control"
(cd "$root" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k 2) >"$tmp/files"
cat >"$tmp/files.want" <<'L'
644 etc/orb/agent.conf
755 usr/bin/orb-agent
644 usr/lib/systemd/system/orb-agent.service
755 usr/libexec/orb-worker
644 usr/share/bash-completion/completions/orb-agent
644 usr/share/doc/orb-agent/agents.md
644 usr/share/doc/orb-agent/changelog.Debian.gz
644 usr/share/doc/orb-agent/changelog.gz
644 usr/share/doc/orb-agent/copyright
644 usr/share/fish/vendor_completions.d/orb-agent.fish
644 usr/share/man/man1/orb-agent.1.gz
644 usr/share/zsh/vendor-completions/_orb-agent
L
check package_has_its_files "$(diff "$tmp/files" "$tmp/files.want" | tr '\n' ' ')" cmp -s "$tmp/files" "$tmp/files.want"
others=$(dpkg-deb -c "$deb" | awk '$2 != "root/root"' | wc -l)
check package_is_roots "$others files are not" [ "$others" = 0 ]
check settings_are_a_conffile "$(cat "$tmp/control/conffiles")" [ "$(cat "$tmp/control/conffiles")" = /etc/orb/agent.conf ]
check settings_are_all_commented "$(grep -vE '^(#|$)' "$root/etc/orb/agent.conf" | head -n 1)" sh -c '! grep -qvE "^(#|$)" "$1"' - "$root/etc/orb/agent.conf"
named=$(grep -rlaF -e "$top" -e "$tmp" "$root" "$tmp/control" | tr '\n' ' ')
check no_path_of_this_machine_is_in_it "$named" [ -z "$named" ]
check programs_are_stripped "$(readelf -SW "$root"/usr/bin/orb-agent "$root"/usr/libexec/orb-worker | grep -E '\.(symtab|debug)' | head -n 2)" \
    sh -c '! readelf -SW "$@" | grep -qE "\.(symtab|debug)"' - "$root/usr/bin/orb-agent" "$root/usr/libexec/orb-worker"
depends=$(dpkg-deb -f "$deb" Depends)
for package in libc6 libcurl4 libuv1 libsodium23 liblua5.4-0 libseccomp2 adduser ca-certificates; do
    case ", $depends," in *", $package ("* | *", $package,"*) ;; *) missing="${missing:-} $package" ;; esac
done
check libraries_are_depended_on "lacks${missing:-}: $depends" [ -z "${missing:-}" ]
version=$(dpkg-deb -f "$deb" Version)
said=$("$root/usr/bin/orb-agent" --version)
check unpacked_it_runs "says: $said" [ "$said" = "orb-agent ${version%-*}" ]
check manual_is_right "mandoc complains" sh -c 'gzip -dc "$1" | mandoc -Tlint -Wwarning' - "$root/usr/share/man/man1/orb-agent.1.gz"

# ---- the unit ----

unit=$root/usr/lib/systemd/system/orb-agent.service
start=$(setting ExecStart)
check unit_starts_what_is_installed "$start" [ -x "$root${start%% *}" ]
case $start in *orb://*) not_ok unit_has_no_token "$start" ;; *--join\ @/etc/orb/agent.join*) ok unit_has_no_token ;; *) not_ok unit_has_no_token "$start" ;; esac

# ---- installed, in a copy of this machine ----

if [ "$(id -u)" = 0 ] && make_machine; then
    machine=1
    on_machine sh -c 'cat >/orb-agent.deb' <"$deb"
    on_machine dpkg -i /orb-agent.deb >"$tmp/dpkg" 2>&1
    check installs "$(tail -n 3 "$tmp/dpkg" | tr '\n' ' ')" [ "$(on_machine dpkg-query -W -f '${db:Status-Status}' orb-agent 2>/dev/null)" = installed ]
    check installed_as_it_was_made "$(on_machine dpkg --verify orb-agent)" [ -z "$(on_machine dpkg --verify orb-agent 2>&1)" ]
    modes=$(on_machine stat -c '%a %U:%G %s %n' /etc/orb/agent.join /var/lib/orb-agent 2>&1 | sed 's/ [0-9]* \(.var\)/ \1/' | tr '\n' ' ')
    check token_and_state_are_private "$modes" [ "$modes" = "640 root:orb-agent 0 /etc/orb/agent.join 700 orb-agent:orb-agent /var/lib/orb-agent " ]
    shell=$(on_machine getent passwd orb-agent | cut -d : -f 6,7)
    check user_cannot_log_in "$shell" [ "$shell" = /var/lib/orb-agent:/usr/sbin/nologin ]
    check service_is_enabled "no link" on_machine test -L /etc/systemd/system/multi-user.target.wants/orb-agent.service
    if command -v systemd-analyze >/dev/null; then
        on_machine systemd-analyze verify --man=no orb-agent.service >"$tmp/verify" 2>&1
        check unit_is_valid "$(head -n 2 "$tmp/verify" | tr '\n' ' ')" [ ! -s "$tmp/verify" ]
    fi
else
    echo "the package is not installed: $(head -n 1 "$tmp/machine.err" 2>/dev/null || echo not root)" >&2
fi

# ---- it joins and works ----

serve_sample --spread --part calm
start_coordinator || exit 4
key=$("$orb" key new --program "$tmp/key" --json | jq -r .key)
printf 'function page(p)\n  emit { seen = "yes" }\nend\n' >"$tmp/mark.lua"
"$orb" program sign --key "$tmp/key" --serial 1 "$tmp/mark.lua" >"$tmp/mark.orb"
line=$("$orb" agent add athens --data "$tmp/fleet" --json | jq -r .line | sed 's/.*--join //; s/^'"'"'//; s/'"'"'$//')
settings() { # FILE WITH HOSTS
    printf 'allow-private = yes\ndelay = 0\nshards = 1\nhosts = %s\nprogram-key = %s\n' "$1" "$key"
}
# What the unit would start, as the user that it would be: with the system calls written down where that can be done.
if [ "$machine" ]; then
    onto_machine /etc/orb/hosts <"$tmp/hosts"
    settings /etc/orb/hosts | onto_machine /etc/orb/agent.conf
    echo "$line" | onto_machine /etc/orb/agent.join
    on_machine touch /trace
    # shellcheck disable=SC2086
    on_machine strace -u orb-agent -f -qq -s 200 -o /trace $start >"$tmp/agent.log" 2>&1 &
else
    cp "$tmp/hosts" "$root/etc/orb/hosts"
    settings "$root/etc/orb/hosts" >"$root/etc/orb/agent.conf"
    echo "$line" >"$root/etc/orb/agent.join"
    start=$(echo "$start" | sed "s,/usr/bin,$root/usr/bin,; s,/var/lib/orb-agent,$tmp/state,; s,@/etc,@$root/etc,")
    # shellcheck disable=SC2086
    ORB_AGENT_CONFIG=$root/etc/orb/agent.conf $start >"$tmp/agent.log" 2>&1 &
fi
started=$!
pids="$pids $started"
for _ in $(seq 200); do
    there=$("$orb" agent show athens --data "$tmp/fleet" --json | jq -r .state)
    [ "$there" = there ] && break
    sleep 0.1
done
check it_joins_by_the_line_in_the_file "$(tail -n 2 "$tmp/agent.log")" [ "$there" = there ]
echo "$line" | sed 's,.*/\([^#]*\)#.*,\1,' >"$tmp/token"
check the_token_is_not_on_a_command_line "it is" sh -c '! cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" " " | grep -qF -f "$1"' - "$tmp/token"
check the_token_is_not_in_the_log "it is" sh -c '! grep -qF -f "$1" "$2"' - "$tmp/token" "$tmp/agent.log"
"$orb" program push "$tmp/mark.orb" --data "$tmp/fleet" >/dev/null 2>"$tmp/push.err"
url=$(grep harbour "$tmp/seeds")
"$orb" channel add "$url" --data "$tmp/fleet" --program mark --agent athens --every 0 >/dev/null
sleep 1
wait_quiet 90
marked=$("$orb" export --data "$tmp/fleet" | jq -r 'select(.fields.seen == "yes") | .url' | wc -l)
check it_works_and_runs_a_program "$marked pages: $(cat "$tmp/push.err") $(tail -n 1 "$tmp/agent.log")" [ "$marked" -ge 10 ]

if [ "$machine" ]; then
    on_machine pgrep -u orb-agent -x orb-agent >"$tmp/agent.pid"
    kill "$(head -n 1 "$tmp/agent.pid")"
else
    kill "$started"
fi
wait "$started"
code=$?
check it_ends_in_order "exit code $code" [ $code = 0 ]

# ---- what it asked the kernel for ----

if [ "$machine" ] && command -v systemd-analyze >/dev/null && on_machine test -s /trace; then
    check_trace "" /var/lib/orb-agent
    # orb-worker tries what it must not do only in its own self-test; its filter ends it there.
    check worker_locked_itself_up "no seccomp in the trace" grep -qE '(^| )seccomp\(|PR_SET_SECCOMP' "$tmp/trace"
fi

# ---- upgraded, removed, purged ----

if [ "$machine" ]; then
    check owner_can_look "$(on_machine orb-agent status --data /var/lib/orb-agent 2>&1 | head -n 2)" \
        sh -c '[ "$1" ]' - "$(on_machine orb-agent status --data /var/lib/orb-agent --json 2>/dev/null | jq -r .doing)"
    on_machine dpkg -i --force-confold /orb-agent.deb >"$tmp/dpkg" 2>&1
    check an_upgrade_keeps_everything "$(tail -n 2 "$tmp/dpkg" | tr '\n' ' ')" \
        on_machine sh -c 'grep -q ^hosts /etc/orb/agent.conf && [ -s /etc/orb/agent.join ] && [ -s /var/lib/orb-agent/agent.state ] && [ "$(stat -c %a /etc/orb/agent.join)" = 640 ]'
    on_machine dpkg -r orb-agent >"$tmp/dpkg" 2>&1
    check removed_its_state_stays "$(tail -n 2 "$tmp/dpkg" | tr '\n' ' ')" \
        on_machine sh -c '[ ! -e /usr/bin/orb-agent ] && [ -s /var/lib/orb-agent/agent.key ] && [ -s /etc/orb/agent.conf ]'
    on_machine rm /etc/orb/hosts
    on_machine dpkg -P orb-agent >"$tmp/dpkg" 2>&1
    left=$(on_machine sh -c 'ls -d /etc/orb /var/lib/orb-agent /etc/systemd/system/orb-agent.service /etc/systemd/system/*/orb-agent.service 2>/dev/null; getent passwd orb-agent')
    check purged_nothing_stays "$left $(tail -n 1 "$tmp/dpkg")" [ -z "$left" ]
fi
cat "$tmp/made" >&2
exit $failed
