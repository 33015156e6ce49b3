#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# The Debian package of orb, and `make install`: what is in them; manual pages and completion; the units, which are valid, locked up and
# enough for what the services ask of the kernel.
#
# Installed for real where this may be done (root, overlay mounts), as package.sh does.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/package_lib.sh"

# Links of the documents in FOLDER that lead to nothing there.
dead_links() { # FOLDER
    find "$1" -name '*.md' | while read -r page; do
        grep -oE '\]\([^)]*\)' "$page" | sed -E 's/^\]\(//; s/\)$//; s/#.*//; /^[a-z]+:/d; /^$/d' | while read -r to; do
            [ -e "$(dirname "$page")/$to" ] || echo "${page##*/}: $to"
        done
    done
}

# ---- the package ----

cd "$top" || exit 4
DEB_OUT=$tmp/one tools/make-deb orb-agent orb >"$tmp/made" 2>&1 || { echo "not ok packages_are_made $(tail -n 3 "$tmp/made" | tr '\n' ' ')"; exit 1; }
ok packages_are_made
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 DEB_OUT=$tmp/two tools/make-deb orb >/dev/null 2>&1)
deb=$(echo "$tmp"/one/orb_*.deb)
check made_twice_it_is_the_same "$(sha256sum "$tmp"/*/orb_*.deb | cut -c 1-16 | tr '\n' ' ')" cmp -s "$deb" "$tmp/two/$(basename "$deb")"
check size_and_needs_are_printed "$(cat "$tmp/made")" [ "$(grep -cE 'kB installed|needs .*libc6' "$tmp/made")" = 4 ]
root=$tmp/root
dpkg-deb -x "$deb" "$root"
dpkg-deb -e "$deb" "$tmp/control"
for file in usr/bin/orb usr/bin/orb-lab usr/lib/systemd/system/orb-coordinator.service usr/lib/systemd/system/orb-serve.service etc/orb/orb.conf \
    usr/share/bash-completion/completions/orb usr/share/zsh/vendor-completions/_orb usr/share/fish/vendor_completions.d/orb.fish \
    usr/share/man/man1/orb.1.gz usr/share/man/man1/orb-lab.1.gz usr/share/doc/orb/getting-started.md usr/share/doc/orb/copyright; do
    [ -s "$root/$file" ] || lacks="${lacks:-} $file"
done
check package_has_its_files "lacks${lacks:-}" [ -z "${lacks:-}" ]
dead=$(dead_links "$root/usr/share/doc/orb" | tr '\n' ' ')
check links_of_documents_lead_somewhere "$dead" [ -z "$dead" ]
named=$(grep -rlaF -e "$top" -e "$tmp" "$root" "$tmp/control" | tr '\n' ' ')
check no_path_of_this_machine_is_in_it "$named" [ -z "$named" ]
pages=$("$orb" help --list | sed -n 's/^manual //p' | while read -r command page; do
    [ "$page" = orb-lab ] || [ -s "$root/usr/share/man/man1/$page.1.gz" ] || echo "$command"
done)
check every_command_has_a_page "not $pages" [ -z "$pages" ]
gzip -dc "$root"/usr/share/man/man1/orb-crawl.1.gz >"$tmp/orb-crawl.1"
check pages_have_what_hands_wrote "no examples" grep -q '^\.Sh EXAMPLES' "$tmp/orb-crawl.1"
for page in "$root"/usr/share/man/man1/*.gz; do gzip -dc "$page" | mandoc -Tlint -Wwarning; done >"$tmp/lint" 2>&1
check pages_are_right "$(head -n 1 "$tmp/lint")" [ ! -s "$tmp/lint" ]
# The help and the page are made from one table: every option of the one is in the other.
"$orb" help crawl | sed -nE 's/^  (-h, )?--([a-z-]+).*/\2/p' | LC_ALL=C sort >"$tmp/by_help"
sed -nE 's/^\.It (Fl h , )?Fl Fl ([a-z-]+).*/\2/p' "$tmp/orb-crawl.1" | LC_ALL=C sort >"$tmp/by_page"
check help_and_page_agree "$(diff "$tmp/by_help" "$tmp/by_page" | head -n 2 | tr '\n' ' ')" cmp -s "$tmp/by_help" "$tmp/by_page"

# ---- make install ----

DESTDIR=$tmp/dest meson install -C "$build" --no-rebuild >"$tmp/install" 2>&1 || tail -n 2 "$tmp/install"
prefix=$tmp/dest$(meson introspect "$build" --buildoptions | jq -r '.[] | select(.name == "prefix").value')
lacks=""
for file in bin/orb bin/orb-agent bin/orb-lab libexec/orb-worker share/man/man1/orb.1 share/man/man1/orb-crawl.1 share/man/man1/orb-agent.1 \
    share/bash-completion/completions/orb share/zsh/site-functions/_orb share/fish/vendor_completions.d/orb.fish \
    lib/systemd/system/orb-coordinator.service lib/systemd/system/orb-agent.service share/doc/orb/getting-started.md share/doc/orb/examples/orb.conf.sample \
    lib/sysusers.d/orb.conf; do
    [ -s "$prefix/$file" ] || lacks="$lacks $file"
done
check make_install_puts_everything "lacks$lacks" [ -z "$lacks" ]
dead=$(dead_links "$prefix/share/doc/orb" | tr '\n' ' ')
check links_of_installed_documents_lead_somewhere "$dead" [ -z "$dead" ]
started=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$prefix/lib/systemd/system/orb-serve.service")
check installed_units_start_what_is_installed "$started" [ -x "$tmp/dest$started" ]
for unit in "$prefix"/lib/systemd/system/*.service; do
    settings=$(setting Environment | sed -n 's/^ORB_CONFIG=//p')
    [ -z "$settings" ] || grep -qxF "ConditionPathExists=$settings" "$unit" || restless="${restless:-} ${unit##*/}"
done
check units_without_settings_do_not_start "these would, again and again:${restless:-}" [ -z "${restless:-}" ]
if command -v systemd-sysusers >/dev/null; then
    mkdir -p "$tmp/users/etc"
    systemd-sysusers --root="$tmp/users" "$prefix/lib/sysusers.d/orb.conf" >"$tmp/sysusers" 2>&1
    users=$(cut -d : -f 1,6 "$tmp/users/etc/passwd" | LC_ALL=C sort | tr '\n' ' ')
    check users_of_the_units_can_be_made "$users $(head -n 1 "$tmp/sysusers")" [ "$users" = "orb-agent:/var/lib/orb-agent orb:/var/lib/orb " ]
fi

# ---- units ----

if command -v systemd-analyze >/dev/null; then
    for name in orb-coordinator orb-serve; do
        unit=$root/usr/lib/systemd/system/$name.service
        exposure=$(systemd-analyze security --offline=yes --no-pager "$unit" 2>/dev/null | sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
        check "${name}_is_locked_up" "exposure ${exposure:-unknown}" awk -v e="${exposure:-10}" 'BEGIN { exit e > 2.5 }'
    done
fi

# ---- installed, in a copy of this machine ----

if [ "$(id -u)" = 0 ] && make_machine; then
    machine=1
    for package in orb-agent orb; do
        on_machine sh -c "cat >/$package.deb" <"$(echo "$tmp/one/${package}"_*.deb)"
    done
    on_machine dpkg -i /orb-agent.deb /orb.deb >"$tmp/dpkg" 2>&1
    check installs "$(tail -n 3 "$tmp/dpkg" | tr '\n' ' ')" [ "$(on_machine dpkg-query -W -f '${db:Status-Status}' orb 2>/dev/null)" = installed ]
    check installed_as_it_was_made "$(on_machine dpkg --verify orb)" [ -z "$(on_machine dpkg --verify orb 2>&1)" ]
    state=$(on_machine stat -c '%a %U:%G' /var/lib/orb)
    check folder_is_the_users "$state" [ "$state" = "750 orb:orb" ]
    enabled=$(on_machine sh -c 'ls -d /etc/systemd/system/multi-user.target.wants/orb-[cs]*.service 2>/dev/null')
    check services_wait_to_be_enabled "$enabled" [ -z "$enabled" ]
    for name in orb-coordinator orb-serve; do
        command -v systemd-analyze >/dev/null || continue
        on_machine systemd-analyze verify --man=no $name.service >"$tmp/verify" 2>&1
        check "${name}_is_valid" "$(head -n 2 "$tmp/verify" | tr '\n' ' ')" [ ! -s "$tmp/verify" ]
    done

    serve_sample --spread --part calm
    onto_machine /hosts <"$tmp/hosts"
    on_machine chmod 644 /hosts
    as_service() { # NAME OPTION...: what the unit would start, with the calls written down
        unit=$root/usr/lib/systemd/system/$1.service
        shift
        on_machine sh -c ': >/trace; chmod 666 /trace'
        # shellcheck disable=SC2046
        on_machine env $(setting Environment) strace -u orb -f -qq -s 200 -o /trace $(setting ExecStart) "$@" >"$tmp/service.out" 2>"$tmp/service.err" &
        service=$!
        pids="$pids $service"
    }
    end_service() { # LABEL PATTERN-OF-PROGRAM
        on_machine pgrep -u orb -x orb >"$tmp/service.pid"
        kill "$(head -n 1 "$tmp/service.pid")"
        wait "$service"
        code=$?
        check "$1_ends_in_order" "exit code $code: $(tail -n 1 "$tmp/service.err")" [ $code = 0 ]
    }
    # The search page over what its user has crawled.
    url=$(grep harbour "$tmp/seeds")
    on_machine setpriv --reuid orb --regid orb --clear-groups env HOME=/var/lib/orb orb crawl --data /var/lib/orb/crawl --hosts /hosts --allow-private --delay 0 --quiet "$url" 2>"$tmp/crawl.err"
    check its_user_crawls "$(tail -n 1 "$tmp/crawl.err")" on_machine test -s /var/lib/orb/crawl/orb.db
    as_service orb-serve --listen 127.0.0.1:0
    for _ in $(seq 200); do
        page=$(grep -o 'http://127.0.0.1:[0-9]*/' "$tmp/service.out" | head -n 1)
        [ -n "$page" ] && break
        sleep 0.1
    done
    found=$(curl -s --max-time 20 "${page:-http://127.0.0.1:9/}api/v1/search?q=harbour" | jq -r .total 2>/dev/null)
    check serve_finds_pages "${found:-nothing}: $(tail -n 1 "$tmp/service.err")" [ "${found:-0}" -ge 1 ]
    for path in status metrics; do curl -s --max-time 20 -o /dev/null "${page:-http://127.0.0.1:9/}$path"; done
    end_service serve
    check_trace serve_ /var/lib/orb
    # A coordinator with an agent of its own.
    as_service orb-coordinator --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --plain --allow-private --with-agent --hosts /hosts
    for _ in $(seq 300); do
        grep -q 'add an agent' "$tmp/service.out" && break
        sleep 0.1
    done
    as_orb() { on_machine setpriv --reuid orb --regid orb --clear-groups env HOME=/var/lib/orb "$@"; }
    as_orb orb channel add "$url" --data /var/lib/orb/fleet --every 0 >"$tmp/channel" 2>&1
    for _ in $(seq 300); do
        pages=$(as_orb orb export --data /var/lib/orb/fleet 2>/dev/null | wc -l)
        [ "$pages" -ge 2 ] && break
        sleep 0.2
    done
    check coordinator_gets_pages "$pages pages: $(tail -n 1 "$tmp/channel") $(tail -n 1 "$tmp/service.err")" [ "$pages" -ge 2 ]
    end_service coordinator
    check_trace coordinator_ /var/lib/orb
    on_machine rm /hosts
    on_machine dpkg -P orb >"$tmp/dpkg" 2>&1
    check purged_the_work_stays "$(tail -n 2 "$tmp/dpkg" | tr '\n' ' ')" on_machine sh -c '[ ! -e /etc/orb/orb.conf ] && [ -s /var/lib/orb/crawl/orb.db ] && ! [ -e /usr/bin/orb ]'
else
    echo "the package is not installed: $(head -n 1 "$tmp/machine.err" 2>/dev/null || echo not root)" >&2
fi
cat "$tmp/made" >&2
exit $failed
