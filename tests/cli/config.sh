#!/bin/sh
# Settings: command line over environment over file over defaults.
. "$(dirname "$0")/lib.sh"

value() { # NAME ARG...: prints "value (from)"
    setting=$1
    shift
    run config --json "$@"
    jq -r ".\"$setting\" | \"\(.value) (\(.from))\"" "$out"
}
is() { # TEST GOT WANT
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got \"$2\", want \"$3\""; fi
}

is default "$(value delay)" "1000 (default)"
mkdir -p "$tmp/.config/orb"
printf '# mine\ndelay = 1500\nexclude = *.pdf\nexclude = *.zip\n' >"$tmp/.config/orb/orb.conf"
is home_file "$(value delay)" "1500 (config file line 2)"
is list_in_file "$(value exclude)" '["*.pdf","*.zip"] (config file line 4)'
mkdir -p "$tmp/xdg/orb"
echo 'delay = 1600' >"$tmp/xdg/orb/orb.conf"
export XDG_CONFIG_HOME="$tmp/xdg"
is xdg_file "$(value delay)" "1600 (config file line 1)"
echo 'delay = 1700' >"$tmp/other.conf"
export ORB_CONFIG="$tmp/other.conf"
is file_by_environment "$(value delay)" "1700 (config file line 1)"
echo 'delay = 1800' >"$tmp/third.conf"
is file_by_option "$(value delay --config "$tmp/third.conf")" "1800 (config file line 1)"
export ORB_DELAY=1900
is environment "$(value delay --config "$tmp/third.conf")" "1900 (environment ORB_DELAY)"
is command_line "$(value delay --config "$tmp/third.conf" --delay 2s)" "2000 (command line)"
unset ORB_DELAY ORB_CONFIG XDG_CONFIG_HOME

complains missing_file 4 'read settings' config --config "$tmp/nothing"
echo 'dely = 3' >"$tmp/bad.conf"
complains misspelt_setting 3 'line 1: no setting is called "dely": did you mean delay?' config --config "$tmp/bad.conf"
echo 'delay = soon' >"$tmp/bad.conf"
complains bad_setting 3 'line 1: "soon" is not a time' config --config "$tmp/bad.conf"
export ORB_DELAY=soon
complains bad_environment 2 'ORB_DELAY: "soon" is not a time' config
gives environment_of_other_commands 0 http://a/ url http://a
unset ORB_DELAY

# The sample file with every comment sign before a setting removed is a valid config file.
"$orb" config --sample >"$tmp/sample.conf"
grep -E '^#[a-z-]+ = ' "$tmp/sample.conf" | grep -vE 'log-level|error\|warn' | sed 's/^#//' >"$tmp/full.conf"
run config --config "$tmp/full.conf"
if [ "$code" = 0 ]; then ok sample_is_valid; else not_ok sample_is_valid "$(cat "$err")"; fi
if cmp -s "$tmp/sample.conf" "$top/data/orb.conf.sample"; then ok sample_is_in_the_tree; else not_ok sample_is_in_the_tree "run make sample-config"; fi
exit $failed
