#!/bin/sh
# Completion in real shells: what bash, zsh and fish offer for a line, from the scripts that orb prints. Shells that are not installed
# are left out, and said.
. "$(dirname "$0")/lib.sh"
mkdir -p "$tmp/place/folder.d" && cd "$tmp/place" || exit 4
: >file.txt
: >folder.d/inside

complains unknown_shell 2 'no such shell: give bash, zsh or fish' completion tcsh
complains unknown_program 2 'no such program' completion bash rm

# ---- one way to ask each shell: the line up to the cursor; prints the words that it would offer, sorted ----

for shell in bash zsh fish; do
    "$orb" completion $shell >"$tmp/orb.$shell"
    "$orb" completion $shell orb-agent >"$tmp/orb-agent.$shell"
done

# bash breaks words at = and :, and gives its function the words.
cat >"$tmp/ask.bash" <<'B'
source "$1"
line=$2
read -ra COMP_WORDS <<<"${line//=/ = }"
[[ $line == *' ' || $line == *= ]] && COMP_WORDS+=('')
[[ $line == *= ]] && unset 'COMP_WORDS[-1]'
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
name=${COMP_WORDS[0]}
_${name//-/_}
printf '%s\n' "${COMPREPLY[@]}"
B
# zsh completes in a terminal only: one is made for it, and what would be added is written to a file besides.
cat >"$tmp/ask.zsh" <<'Z'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1= PS2= RPS1=; unsetopt prompt_sp prompt_cr; TERM=dumb; stty -echo'
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; cd $2; hits=$4"
zpty -w z 'compadd () {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    typeset -a found; builtin compadd -A found "$@"
    (( $#found )) && print -l -- "HIT:"$^found >>$hits
    builtin compadd "$@"
}
ask () { compstate[list]=; compstate[insert]=; _main_complete; print DONE >>$hits; }
zle -C ask complete-word ask; bindkey "^X" ask; print READY >>$hits'
for i in {1..100}; do grep -q READY $4 2>/dev/null && break; sleep 0.05; done
zpty -w -n z "$3"$'\x18'
for i in {1..100}; do grep -q DONE $4 && break; sleep 0.05; done
zpty -d z
Z
offers() { # SHELL LINE
    program=${2%% *}
    case $1 in
    bash) timeout 20 bash --norc "$tmp/ask.bash" "$tmp/$program.bash" "$2" ;;
    zsh)
        mkdir -p "$tmp/fpath"
        cp "$tmp/orb.zsh" "$tmp/fpath/_orb"
        cp "$tmp/orb-agent.zsh" "$tmp/fpath/_orb-agent"
        rm -f "$tmp/hits"
        timeout 20 zsh -f "$tmp/ask.zsh" "$tmp/fpath" "$PWD" "$2" "$tmp/hits" </dev/null
        sed -n 's/^HIT://p' "$tmp/hits"
        ;;
    fish) timeout 20 fish --no-config -c "source $tmp/$program.fish; complete -C '$2'" | cut -f 1 ;;
    esac 2>"$tmp/ask.err" | sed 's/ *$//; /^$/d' | LC_ALL=C sort -u
}
# NAME LINE WORD...: the shell offers these and no others. A word =X alone stands for "at least these".
completes() {
    name=$1 line=$2 least=""
    shift 2
    if [ "${1:-}" = least ]; then
        least=1
        shift
    fi
    : >"$tmp/want"
    [ $# = 0 ] || printf '%s\n' "$@" | LC_ALL=C sort -u >"$tmp/want"
    offers "$shell" "$line" >"$tmp/got"
    if [ "$least" ]; then
        lacks=$(LC_ALL=C comm -13 "$tmp/got" "$tmp/want" | tr '\n' ' ')
    else
        lacks=$(diff "$tmp/got" "$tmp/want" | grep '^[<>]' | tr '\n' ' ')
    fi
    if [ -z "$lacks" ]; then ok "${shell}_$name"; else not_ok "${shell}_$name" "\"$line\" gives $(tr '\n' ' ' <"$tmp/got" | head -c 200), differs: $lacks"; fi
}

commands=$("$orb" help --list | sed -n 's/^command //p')
for shell in bash zsh fish; do
    command -v $shell >/dev/null || { echo "$0: $shell is not installed" >&2; continue; }
    # shellcheck disable=SC2086
    completes every_command "orb " least $commands
    completes a_command "orb cra" crawl
    completes an_option "orb crawl --sco" --scope
    completes a_choice "orb crawl --scope " domain prefix site
    completes a_choice_begun "orb crawl --scope p" prefix
    completes options_are_those_of_the_command "orb status --pages"
    completes another_choice_of_the_same_name "orb probe --kind " all head icmp tcp
    completes and_one_more "orb channel add --kind " keywords text
    completes a_flag_that_is_on "orb check --no" --no-repair
    completes a_setting_can_be_off "orb crawl --no-ins" --no-insecure
    completes what_an_edit_takes_back "orb channel edit x --no-n" --no-never
    completes what_a_change_takes_back "orb agent change x --no-i" --no-idle-only
    completes strategies_of_delegate "orb sim delegate --strategy " farthest hash ipmicra learned probe-all random
    completes strategies_of_recrawl "orb sim recrawl --strategy " fixed greedy icr iir
    completes verbs "orb key " new show
    completes a_verb_begun "orb network pi" pin pins
    completes a_verb_after_an_option "orb agent --data x dr" drain
    completes no_verb_twice "orb agent list dr"
    completes commands_of_help "orb help craw" crawl
    completes options_of_the_agent "orb-agent --refuse" --refuse-country --refuse-network --refuse-site
    completes verbs_of_the_agent "orb-agent st" status
    completes a_choice_of_the_agent "orb-agent --log-level d" debug
    # Of folders zsh and fish say that they are, each in its own way.
    offers $shell "orb crawl --data f" | sed 's,/$,,' >"$tmp/folders"
    if [ "$(cat "$tmp/folders")" = folder.d ]; then ok "${shell}_folders"; else not_ok "${shell}_folders" "gives $(tr '\n' ' ' <"$tmp/folders")"; fi
    offers $shell "orb crawl --seeds f" | sed 's,/$,,' | tr '\n' ' ' >"$tmp/files"
    if [ "$(cat "$tmp/files")" = "file.txt folder.d " ]; then ok "${shell}_files"; else not_ok "${shell}_files" "gives $(cat "$tmp/files")"; fi
    offers $shell "orb crawl --program fi" | tr '\n' ' ' >"$tmp/files"
    if [ "$(cat "$tmp/files")" = "file.txt " ]; then ok "${shell}_a_program_is_a_file"; else not_ok "${shell}_a_program_is_a_file" "gives $(cat "$tmp/files")"; fi
    completes of_a_channel_it_is_a_name "orb channel add --program fi"
    offers $shell "orb channel import f" | sed 's,/$,,' | tr '\n' ' ' >"$tmp/files"
    if [ "$(cat "$tmp/files")" = "file.txt folder.d " ]; then ok "${shell}_files_after_a_verb"; else not_ok "${shell}_files_after_a_verb" "gives $(cat "$tmp/files")"; fi
done

# Every option of every command is offered, and nothing that the command would not take: bash, which is quick.
shell=bash
for c in $commands; do
    "$orb" help "$c" | sed -nE 's/^  (-h, )?(--[a-z-]+).*/\2/p' | LC_ALL=C sort -u >"$tmp/options"
    offers bash "orb $c --" >"$tmp/offered"
    lacks=$(LC_ALL=C comm -23 "$tmp/options" "$tmp/offered" | tr '\n' ' ')
    more=$(LC_ALL=C comm -13 "$tmp/options" "$tmp/offered" | sed 's/^--no-/--/' | LC_ALL=C sort -u | LC_ALL=C comm -23 - "$tmp/options" | tr '\n' ' ')
    [ "$c" != config ] || more="" # its help names the settings in one word
    if [ -z "$lacks$more" ] && [ -s "$tmp/options" ]; then ok "all_options_of_$c"; else not_ok "all_options_of_$c" "lacks $lacks, has besides $more"; fi
done
exit $failed
