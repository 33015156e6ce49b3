#!/bin/sh
# Help, and what is said to a command line that makes no sense.
. "$(dirname "$0")/lib.sh"

run
if [ "$code" = 2 ] && grep -q '^usage: orb' "$err"; then ok no_command_shows_usage; else not_ok no_command_shows_usage "code $code"; fi
run help
has help_lists_commands '  crawl ' "$out"
has help_has_plumbing_apart 'plumbing' "$out"
for c in $("$orb" help --list | sed -n 's/^command //p'); do
    run help "$c"
    cp "$out" "$tmp/by_help"
    run "$c" --help
    if [ "$code" = 0 ] && cmp -s "$out" "$tmp/by_help" && grep -q "^usage: orb $c" "$out"; then
        ok "help_of_$c"
    else
        not_ok "help_of_$c" "help and --help differ, or code $code"
    fi
    if awk 'length($0) > 80 { exit 1 }' "$out"; then ok "help_of_${c}_fits"; else not_ok "help_of_${c}_fits" "longer than 80 columns"; fi
done
# Every verb that the help names is one that the command knows; those that would measure, fetch or play something are left out.
for c in $("$orb" help --list | sed -n 's/^command //p'); do
    [ "$c" != lab ] || continue
    for verb in $("$orb" help "$c" | sed -n '/^verbs$/,/^$/s/^  \([a-z]*\).*/\1/p'); do
        case "$c $verb" in *" fetch" | "sim recrawl") continue ;; esac
        run "$c" "$verb"
        if grep -qE 'no such verb|neither|the verbs are|only verb|no such shell' "$err"; then not_ok "verb_${c}_$verb" "$(head -n 1 "$err")"; else ok "verb_${c}_$verb"; fi
    done
done
run help agent
has help_has_verbs '  drain NAME  ' "$out"
run help --man crawl
has manual_of_a_command '.Nm orb-crawl' "$out"
run help --man
has manual_of_all '.Xr orb-crawl 1' "$out"
run --version
has version 'orb 0.' "$out"
complains misspelt_command 2 'crwal: no such command: did you mean crawl?' crwal
complains url_instead_of_command 2 'did you mean orb crawl https://example.org/?' https://example.org/
complains unknown_command 2 'see orb help' zzzzzz
complains option_before_command 2 'a command comes first' --json crawl
complains misspelt_option 2 'did you mean --depth?' crawl --dept 3
complains foreign_option 2 'not an option of this command' url --pages 3 x
complains missing_value 2 'its value is missing' crawl --pages
complains bad_number 2 'is not a number' crawl --pages many http://example.org/
complains out_of_range 2 'out of range' crawl --depth 5000 http://example.org/
complains bad_choice 2 'one of site, domain, prefix' crawl --scope all http://example.org/
complains contradiction 2 'contradict' crawl --insecure --ca-file x http://example.org/
complains hasty 2 '--own-site' crawl --delay 0 http://example.org/
complains nothing_to_crawl 2 'nothing to crawl' crawl
complains too_many_arguments 2 'one argument too many' status x
complains too_few_arguments 2 'something is missing' robots x
complains recrawl_strategy 2 'one of greedy, iir, icr, fixed, off' coordinator --data x --recrawl often
complains recrawl_ceiling 2 'not a number from 0.01' coordinator --data x --recrawl-ceiling none
complains channel_to_show 2 "give the channel's ID" channel show
complains nobody_to_ask 4 'channel recrawl' channel recrawl --data "$tmp/nobody"
complains warc_in_the_data_folder 2 'that is the data folder' crawl --data "$tmp/both" --warc "$tmp/both/" http://example.org/
complains warc_size_too_small 2 'out of range' crawl --warc x --warc-size 1 http://example.org/
complains warc_compression 2 'one of gzip, zstd' crawl --warc x --warc-compression xz http://example.org/
run lab help
has lab_is_orb_lab 'usage: orb-lab' "$out"
run lab list
has lab_list_has_smoke 'smoke  ' "$out"
run lab run /nonexistent.scenario
if [ "$code" = 3 ]; then ok lab_keeps_exit_codes; else not_ok lab_keeps_exit_codes "code $code"; fi
printf '%b' 'a\033[31mb' >"$tmp/name"
run "$(cat "$tmp/name")"
if grep -q '\\x1b' "$err" && ! grep -q "$(printf '\033')" "$err"; then
    ok escapes_what_it_repeats
else
    not_ok escapes_what_it_repeats "$(od -c "$err" | head -n 2)"
fi
exit $failed
