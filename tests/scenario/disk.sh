#!/bin/sh
# shellcheck disable=SC2154 # variables of lib.sh
# A full disk, a read-only disk, a folder in use, a folder that is none: a clear message, the right exit code, nothing lost.
. "$(dirname "$0")/lib.sh"
pages=1500
serve_sample --no-sites --big $pages --big-hosts 3 --part big

crawl_args="--hosts $tmp/hosts --seeds $tmp/seeds --allow-private --delay 0"
"$orb" crawl --data "$tmp/calm" $crawl_args --json >/dev/null 2>"$tmp/err"
pages_of "$tmp/calm" >"$tmp/want"
check disk_undisturbed "$(wc -l <"$tmp/want") of $pages pages: $(tail -n 1 "$tmp/err")" [ "$(wc -l <"$tmp/want")" -eq $pages ]

# Writes fail from some byte on, for good. The crawl may wait for space or give up; it must say so and must not lose anything.
for bytes in 0 3000 60000 250000 1000000 3000000 5000000; do
    rm -rf "$tmp/data"
    ORB_TEST_WRITE_FAULT=$bytes:ENOSPC timeout -s KILL 120 "$orb" crawl --data "$tmp/data" $crawl_args --max-time 30 >"$tmp/out" 2>&1
    code=$?
    check "disk_full_after_${bytes}_ends (exit code $code)" "exit code $code" [ $code -ne 137 ]
    check "disk_full_after_${bytes}_is_said" "no word of it: $(tail -n 1 "$tmp/out")" grep -qiE 'space|disk|full' "$tmp/out"
    "$orb" crawl --data "$tmp/data" $crawl_args >/dev/null 2>"$tmp/err"
    pages_of "$tmp/data" >"$tmp/got"
    check "disk_full_after_${bytes}_goes_on" "$(wc -l <"$tmp/got") of $pages pages: $(tail -n 1 "$tmp/err")" cmp -s "$tmp/want" "$tmp/got"
    check_index "disk_full_after_${bytes}_index" "$tmp/data" $pages
done

# A real small file system, which grows while the crawl waits; then one that is read-only.
if unshare -rm true 2>/dev/null; then
    cat >"$tmp/small.sh" <<'EOF'
set -u
mkdir -p "$tmp/mnt"
mount -t tmpfs -o size=600k tmpfs "$tmp/mnt" || exit 99
"$orb" crawl --data "$tmp/mnt/data" $crawl_args --max-time 60 >"$tmp/out" 2>&1 &
pid=$!
for _ in $(seq 300); do grep -qiE 'space|disk|full' "$tmp/out" && break; sleep 0.1; done
mount -o remount,size=200m "$tmp/mnt"
wait $pid
code=$?
echo $code >"$tmp/code"
# Given up instead of waiting is fine too, as long as the same command goes on.
[ $code -eq 0 ] || "$orb" crawl --data "$tmp/mnt/data" $crawl_args >>"$tmp/out" 2>&1
"$orb" export --data "$tmp/mnt/data" | jq -r .url | LC_ALL=C sort >"$tmp/got"
mount -o remount,ro "$tmp/mnt"
"$orb" crawl --data "$tmp/mnt/data" $crawl_args --max-time 5 >"$tmp/ro_out" 2>&1
echo $? >"$tmp/ro_code"
"$orb" crawl --data "$tmp/mnt/other" $crawl_args --max-time 5 >"$tmp/ro_out2" 2>&1
echo $? >"$tmp/ro_code2"
umount "$tmp/mnt" 2>/dev/null
exit 0
EOF
    export tmp orb crawl_args
    timeout -s KILL 120 unshare -rm sh "$tmp/small.sh" 2>"$tmp/err"
    check disk_really_full_is_said "no word of it: $(head -n 1 "$tmp/out")" grep -qiE 'space|disk|full' "$tmp/out"
    check "disk_really_full_goes_on (exit code $(cat "$tmp/code"))" "$(wc -l <"$tmp/got") of $pages pages: $(tail -n 1 "$tmp/out")" cmp -s "$tmp/want" "$tmp/got"
    check disk_read_only_exit_code "exit code $(cat "$tmp/ro_code"), not 4" [ "$(cat "$tmp/ro_code")" = 4 ]
    check disk_read_only_is_said "no word of it: $(tail -n 1 "$tmp/ro_out")" grep -qiE '^orb: .*(read-only|readonly|permission)' "$tmp/ro_out"
    check disk_read_only_new_folder "exit code $(cat "$tmp/ro_code2"): $(tail -n 1 "$tmp/ro_out2")" \
        grep -qiE '^orb: .*(read-only|readonly|permission)' "$tmp/ro_out2"
else
    echo "# skipped: no user namespaces, real small and read-only file systems not tried"
fi

# Two crawls on one folder.
"$orb" crawl --data "$tmp/shared" $crawl_args --rate 500k >/dev/null 2>&1 &
first=$!
pids="$pids $first"
has_it() { [ "$("$orb" status --data "$tmp/shared" --json | jq .pid)" = "$first" ]; }
await 60 has_it
"$orb" crawl --data "$tmp/shared" $crawl_args >"$tmp/out" 2>&1
code=$?
check folder_in_use_exit_code "exit code $code, not 4" [ $code -eq 4 ]
check folder_in_use_is_said "message: $(tail -n 1 "$tmp/out")" grep -qE "^orb: .*$first" "$tmp/out"
check folder_in_use_readers_work "orb export failed" sh -c '"$1" export --data "$2" --format csv >/dev/null' - "$orb" "$tmp/shared"
kill -9 $first 2>/dev/null
wait $first 2>/dev/null
"$orb" crawl --data "$tmp/shared" $crawl_args >/dev/null 2>"$tmp/err"
pages_of "$tmp/shared" >"$tmp/got"
check folder_free_after_a_kill "$(wc -l <"$tmp/got") of $pages pages: $(tail -n 1 "$tmp/err")" cmp -s "$tmp/want" "$tmp/got"

# A file where the folder should be.
echo hello >"$tmp/file"
"$orb" crawl --data "$tmp/file" $crawl_args >"$tmp/out" 2>&1
code=$?
check folder_is_a_file "exit code $code: $(tail -n 1 "$tmp/out")" [ $code -eq 4 -o $code -eq 3 ]
exit $failed
