#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite bench --energy and benchmark_model --report_energy over counters made for the test: what is printed and what is
# written, and that there is no figure where nothing counts.
. "$(dirname "$0")/lib"
needs "$model" "$bin/../fakes/libfake_nvml.so"
tool=$bin/benchmark_model
short="--num_runs=4 --min_secs=0 --warmup_min_secs=0"
HALITE_SYSFS=$work/sys
HALITE_NVML_LIBRARY=/no/such/library.so
export HALITE_SYSFS HALITE_NVML_LIBRARY

# Nothing counts: one line, without a number.
mkdir "$HALITE_SYSFS"
why='rapl: no counters in .*; hwmon: no sensors .*; nvml: .* does not open; battery: no battery in'
passes "$halite" bench "$model" --runs 4 --energy
matches "^energy that is not counted: $why"
! grep -qE 'energy of a run|[0-9] [um]?[JW]$' "$work/out" || failed "a figure from nowhere"
passes "$tool" --graph="$model" $short --report_energy=true --result_file_path="$work/result.json"
matches "^WARN: Energy that is not counted: $why"
! grep -q "J per inference" "$work/out" && ! grep -q energy_metrics "$work/result.json" || failed "a figure from nowhere"
# Without the flag nobody looks.
passes "$tool" --graph="$model" $short
! grep -q "Energy" "$work/out" || failed "energy that nobody asked for"

# A meter that shows 25 W throughout, a card that counts half a joule with each look, and a counter that stands still.
mkdir -p "$HALITE_SYSFS/class/hwmon/hwmon0" "$HALITE_SYSFS/class/powercap/intel-rapl:0"
echo power_meter >"$HALITE_SYSFS/class/hwmon/hwmon0/name"
echo 25000000 >"$HALITE_SYSFS/class/hwmon/hwmon0/power1_average"
echo package-0 >"$HALITE_SYSFS/class/powercap/intel-rapl:0/name"
echo 5 >"$HALITE_SYSFS/class/powercap/intel-rapl:0/energy_uj"
HALITE_NVML_LIBRARY=$bin/../fakes/libfake_nvml.so
passes "$halite" bench "$model" --runs 4 --energy
says "energy of a run, mean power, and the source that counts it"
matches "^  power_meter power1 \(hwmon0\) +$number [um]?J +25\.0 W  hwmon$"
matches "^  GPU 0: Fake Card A +$number m?J +$number k?W  nvml$"
matches "^  GPU 1: Fake Card B +$number [um]?J +40\.0 W  nvml$"
matches "^energy that is not counted: rapl: .*energy_uj: it did not change meanwhile: time more runs; battery: no battery in"
passes "$tool" --graph="$model" $short --report_energy=true --result_file_path="$work/result.json" \
    --enable_op_profiling=true --op_profiling_output_mode=csv --op_profiling_output_file="$work/profile.csv"
matches "^INFO: Report energy: \[1\]$"
matches "^INFO: Energy of power_meter power1 \(hwmon0\) \(hwmon\): $number J per inference, 25 W on average$"
grep -qE "^hwmon, power_meter power1 \(hwmon0\), $number, 25$" "$work/profile.csv" || failed "energy as CSV"
cp "$work/out" "$work/printed"
if command -v python3 >/dev/null; then
    run python3 -c '
import json, re, sys
out, result = (open(name).read() for name in sys.argv[1:])
rows = {row["device"]: row for row in json.loads(result)["energy_metrics"]}
assert [row["source"] for row in rows.values()] == ["hwmon", "nvml", "nvml"], rows
for device, joules, watts in re.findall(r"Energy of (.*) \(\w+\): (\S+) J per inference, (\S+) W", out):
    assert abs(rows[device]["joules_per_inference"] / float(joules) - 1) < 1e-5
    assert abs(rows[device]["mean_watts"] / float(watts) - 1) < 1e-5
    # Four runs and the time around them.
    seconds = 4 * float(joules) / float(watts)
    assert seconds * 1e6 >= sum(map(int, re.findall(r"count=4 .*min=(\d+)", out))) * 4
' "$work/printed" "$work/result.json"
    [ $code -eq 0 ] || failed "energy as JSON"
    run "$tool" --graph="$model" $short --report_energy=true --result_file_path="$work/result.pb"
    if grep -q 'protobuf-c was missing' "$work/err"; then
        echo "left out: serialized messages (this build has no protobuf-c)"
    else
        passes python3 "$here/read_message.py" "$work/result.pb" 1000.1 1000.2
        says "1000.1 b'hwmon'"
        says "1000.2 b'GPU 1: Fake Card B'"
    fi
fi
finish
