#!/bin/sh
# Worlds that are made, and delegation that is played on them.
. "$(dirname "$0")/lib.sh"

# ---- worlds ----
complains world_needs_a_folder 2 'give -o DIR' world make
complains world_has_one_verb 2 'make is the only verb' world break
complains output_needs_a_value 2 '-o: its value is missing' world make -o
complains model_or_matrix 2 'contradict' world make --model geo --matrix x -o "$tmp/none"
run world make --agents 4 --sites 120 --seed 9 -o "$tmp/w" --json
holds world_is_made '.agents == 4 and .sites == 120 and .seed == 9 and .model == false and .networks > 120'
for f in agents sites rtt agent_rtt networks; do
    if [ -s "$tmp/w/$f.tsv" ]; then ok "world_has_$f"; else not_ok "world_has_$f" missing; fi
done
complains world_is_not_overwritten 3 'there is a world in it' world make -o "$tmp/w"
run world make --agents 4 --sites 120 --seed 9 --output "$tmp/w2"
if diff -r "$tmp/w" "$tmp/w2" >"$tmp/diff"; then ok same_seed_same_world; else not_ok same_seed_same_world "$(head -n 3 "$tmp/diff")"; fi
printf 'a,b,ms\nx,y,20\ny,z,30\nx,z,45\n' >"$tmp/pairs.csv"
printf 'name,lat,lon\nx,38,23.7\ny,52.5,13.4\nz,40.7,-74\n' >"$tmp/nodes.csv"
run world make --agents 2 --sites 30 --matrix "$tmp/pairs.csv" --nodes "$tmp/nodes.csv" -o "$tmp/m"
has world_of_a_matrix '2 agents and 30 sites' "$out"
printf 'a,b,ms\nx,y,soon\n' >"$tmp/bad.csv"
complains matrix_with_a_bad_line 3 'bad.csv:2: ms: "soon" is not a number' world make --matrix "$tmp/bad.csv" -o "$tmp/none"

# ---- delegation ----
complains which_world 2 'give --world DIR' sim delegate
complains no_such_world 3 'agents.tsv: no such file' sim delegate --world "$tmp/nowhere"
complains no_such_verb 2 'the verbs are' sim dance
complains option_of_another_verb 2 'sim: place: --drift is none of its options, but one of delegate and report: see orb sim place --help' sim place --world "$tmp/w" --drift paths
complains option_of_one_other_verb 2 '--changes is none of its options, but one of recrawl: see' sim delegate --changes "$tmp/w"
run sim place --help
has help_of_a_verb 'usage: orb sim [OPTION...] place [DIR]' "$out"
has help_of_a_verb_has_its_options '--agents N' "$out"
lacks help_of_a_verb_has_no_others '--drift' "$out"
run help sim delegate
has help_names_the_verb_too '--drift none|paths' "$out"
lacks help_of_delegate_has_not_recrawl '--encouragement' "$out"
complains help_of_no_verb 2 'help sim dance: no such verb' help sim dance
complains unknown_strategy 2 'one of learned, ipmicra, hash' sim delegate --world "$tmp/w" --strategy best
complains bad_threshold 2 'is not a number' sim delegate --world "$tmp/w" --threshold near
complains no_cost 2 'is not a number from 0.001' sim delegate --world "$tmp/w" --cost 0
complains bad_factor 2 'is not a number from 1.05' sim delegate --world "$tmp/w" --calibration-factor 1
complains the_coordinator_has_them_too 2 'coordinator: --threshold: "near" is not a number' coordinator --data "$tmp/none" --threshold near
complains bad_capacity 2 'neither a share' sim delegate --world "$tmp/w" --capacity much
run sim delegate --world "$tmp/w" --strategy probe-all --noise 0 --json
holds probe_all_is_optimal '.optimal == 1 and .near == 1 and .rtt_ratio == 1 and .measurements > 3 and .moves == 0'
holds every_field_is_there '[.strategy, .sites, .agents, .optimal, .near, .probes, .probes_first, .probes_last, .rtt_ms, .rtt_ratio, .excess_ms, .download_s, .moves] | all(. != null)'
holds no_balance_no_figure 'has("balance_best") and .balance_best == null and .balance_ratio == null'
for s in random hash ipmicra learned farthest; do
    run sim delegate --world "$tmp/w" --strategy $s --json
    holds "plays_$s" ".strategy == \"$s\" and .sites == 120 and .optimal <= 1 and .rtt_ratio >= 1 and .probes <= .measurements"
done
run sim delegate --world "$tmp/w" --strategy random --json
cp "$out" "$tmp/one"
run sim delegate --world "$tmp/w" --strategy random --json
if jq -e --slurpfile a "$tmp/one" 'del(.cpu_us) == ($a[0] | del(.cpu_us))' "$out" >/dev/null; then ok same_seed_same_run; else not_ok same_seed_same_run "$(head -c 200 "$out")"; fi
run sim delegate --world "$tmp/w" --strategy random --seed 2 --sites 50 --json
holds fewer_sites '.sites == 50 and .seed == 2'
run sim delegate --world "$tmp/w" --strategy probe-all --capacity 1.3 --json
holds balances '.over_capacity == 0 and .balance_ratio >= 1 and .unbalanced.rtt_ms <= .rtt_ms'
run sim delegate --world "$tmp/w" --strategy probe-all --capacity 1.3 --balance off --json
holds balance_can_be_off '.balance_ratio == null and .moves == 0'
run sim delegate --world "$tmp/w" --strategy probe-all --drift servers --days 1 --json
holds slow_servers_move_nothing '.drift.kind == "servers" and .drift.moves <= 1'
run sim delegate --world "$tmp/w" --strategy ipmicra --threshold 25
has text_for_people 'round trip' "$out"
cp -r "$tmp/w" "$tmp/broken"
sed -i '3s/\t[0-9.]*$/\tsoon/' "$tmp/broken/rtt.tsv"
complains broken_world 3 'rtt.tsv:3: ' sim delegate --world "$tmp/broken"

# ---- where to put agents, and the page ----
run sim place --world "$tmp/w" --agents 3 --json
if [ "$(wc -l <"$out")" = 7 ] && [ "$(jq -s 'map(select(.kind == "city")) | length' "$out")" = 3 ]; then
    ok place_lists_agents_and_cities
else
    not_ok place_lists_agents_and_cities "$(head -n 2 "$out")"
fi
run sim place --world "$tmp/w"
has place_for_people 'cities that have no agent yet' "$out"
complains report_needs_a_file 2 'give -o FILE' sim report "$tmp/w"
run sim report "$tmp/w" --sites 60 --steps 0 -o "$tmp/page.html"
has report_is_a_page 'Accuracy against probes' "$tmp/page.html"
complains report_into_nowhere 4 'write' sim report "$tmp/w" --sites 10 --steps 0 -o "$tmp/no/such/dir/page.html"
exit $failed
