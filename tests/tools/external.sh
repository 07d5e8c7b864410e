#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Delegates of other people through the tools: options in both ways to write them, what a plug-in says, and what is said
# where there is none. In the place of a vendor's: tests/api/third_party.
. "$(dirname "$0")/lib"
add=$shared/golden/ops/add/add_float32_same_4d.tflite
plugin=$bin/../lib/libthird_party.so
half=$bin/../lib/libthird_party_half.so
needs "$model" "$plugin" "$half"
tool=$bin/benchmark_model
short="--num_runs=1 --warmup_runs=0 --min_secs=0 --warmup_min_secs=0"

# ---- options reach it
passes "$halite" run "$model" -d "$plugin"
passes "$halite" run "$model" -d "$plugin:gain=2"
# A value has commas and colons, and an option follows it; the file's own name has a colon.
run "$halite" run "$model" -d "$plugin:say=a,b:c, d=,gain=2"
[ $code -eq 0 ] && grep -qxF "halite run: warning: external delegate: $plugin: a,b:c, d=" "$work/err" ||
    failed "a value with commas and colons"
cp "$plugin" "$work/a:gain=2"
passes "$halite" bench "$model" --runs 1 -d "$work/a:gain=2"
odd=$(printf '\303\244\303\266') # two letters beyond ASCII
run "$halite" bench "$model" --runs 1 -d "$work/a:gain=2:say=$odd %s %n \\ '\""
[ $code -eq 0 ] && grep -qF "a:gain=2: $odd %s %n \\ '\"" "$work/err" || failed "odd characters"
run "$tool" --graph="$model" $short --external_delegate_path="$plugin" --external_delegate_options="say:a,b:c=d;gain:2;;"
[ $code -eq 0 ] && grep -qF "external delegate: $plugin: a,b:c=d" "$work/err" || failed "options as the original writes them"
matches "^INFO: EXTERNAL delegate created\.$"

# ---- what it says, once, and what it was asked
asked="external delegate: $plugin gave no delegate for the options"
refuses 1 "halite run: external delegate: $plugin: third party: these options are not taken; $asked odd=1, gain=2" \
    "$halite" run "$model" -d "$plugin:odd=1,gain=2"
refuses 1 "$asked fail=silently; it does not say why: ask its documentation" "$halite" bench "$model" -d "$plugin:fail=silently"
many=$(awk 'BEGIN { for (i = 0; i < 257; i++) printf ",gain=%d", i }')
refuses 1 "--delegate takes 256 options at most" "$halite" run "$model" -d "$plugin:${many#,}"
complains "third party: these options are not taken" "$tool" --graph="$model" --external_delegate_path="$plugin" \
    --external_delegate_options="fail:create"
complains "gave no delegate for the options fail=silently; it does not say why" "$tool" --graph="$model" \
    --external_delegate_path="$plugin" --external_delegate_options="fail:silently"
complains "--external_delegate_options: 'gain' has no ':'; write key:value;key:value" "$tool" --graph="$model" \
    --external_delegate_path="$plugin" --external_delegate_options="gain"

# ---- it is none
refuses 1 "the delegate cannot be opened: " "$halite" run "$model" -d "$work/nothing.so:gain=2"
refuses 1 "$half is no plug-in for delegates: it does not export tflite_plugin_destroy_delegate" \
    "$halite" run "$model" -d "$half"
complains "external delegate: cannot open $work/nothing.so: " "$tool" --graph="$model" \
    --external_delegate_path="$work/nothing.so"

# ---- it fails half-way
if has "${add:-golden/ops/add}" "a graph that it takes"; then
    passes "$halite" bench "$add" --runs 1 -d "$plugin"
    if grep -q ThirdParty "$work/out"; then
        for step in prepare late init; do
            run "$halite" run "$add" -d "$plugin:fail=$step"
            [ $code -eq 0 ] || grep -qF "third party: $step fails" "$work/err" || failed "its $step fails, and nobody says so"
        done
        run "$halite" run "$add" -d "$plugin:fail=invoke"
        [ $code -eq 1 ] && grep -qF "third party: invoke fails" "$work/err" || failed "a run that fails"
    else
        echo "left out: steps that fail (it takes no node of $add)"
    fi
fi

# ---- published ones, where a package has brought one
found=
for path in /usr/lib/*/libarmnnDelegate.so* /usr/lib/*/libteflon.so* /usr/lib/*/libedgetpu.so.1; do
    [ -e "$path" ] || continue
    found="$found $path"
    options=
    case $path in *armnn*) options=":backends=CpuRef" ;; esac
    run "$halite" run "$model" -d "$path$options"
    # Without its hardware it gives no delegate, and that is said.
    [ $code -eq 0 ] || { [ $code -eq 1 ] && grep -qF "external delegate: " "$work/err"; } || failed "$path"
    echo "tried: $path (exit code $code)"
done
[ -n "$found" ] || echo "left out: published delegates (no package of Arm NN, Teflon or the Edge TPU is installed)"
finish
