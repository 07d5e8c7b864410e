#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does golden_runner itself notice what is wrong? A runner that passes everything would show green for ever.
. "$(dirname "$0")/lib"
needs "$golden_runner" "$shared/golden/structure/metadata.txt" "$shared/golden/models/micro/sin.txt"
cases=$work/cases
mkdir "$cases"
for end in txt bin tflite; do cp "$shared/golden/structure/metadata.$end" "$cases/"; done
chmod +w "$cases"/*

# closes COMMAND LINE CODE: runs golden_runner on the copies; the closing line and the exit code are right.
closes() {
    run "$golden_runner" "$cases"
    [ $code -eq "$2" ] && [ "$(tail -n 1 "$work/out")" = "$1" ] || failed "golden_runner: wanted '$1', $2"
}

# A case copied elsewhere with its own model; by folder, by manifest, by name; listed.
closes "1 passed, 0 failed, 0 skipped" 0
passes "$golden_runner" "$cases/metadata.txt" "$cases/metadata" --kernels reference
says "2 passed, 0 failed, 0 skipped"
passes "$golden_runner" --isolate --verbose "$cases"
says "pass $cases/metadata"
passes "$golden_runner" --list "$cases"
[ "$(cat "$work/out")" = "$cases/metadata" ] || failed "--list"
passes "$golden_runner" "$shared/golden/models/micro/sin" # its model path starts at the folder that holds golden/

# A wrong expected value: the line names case, step, output, index and both values.
original=$(cat "$cases/metadata.txt")
cp "$cases/metadata.bin" "$work/metadata.bin"
out=$(sed -n 's/^out 0 float32 1,3 @\([0-9]*\)+12.*/\1/p' "$cases/metadata.txt")
{
    head -c $((out + 4)) "$work/metadata.bin"
    printf '\000\000\310\102' # 100.0 as element 1
    tail -c +$((out + 9)) "$work/metadata.bin"
} >"$cases/metadata.bin"
closes "0 passed, 1 failed, 0 skipped" 1
says "FAIL $cases/metadata: step 1, output 0 'main_o': index 1 (0,1): expected 100, got "
says "; 1 of 3 differ"
run "$golden_runner" --tolerance 1000 "$cases"
[ $code -eq 0 ] || failed "--tolerance"
# The list of differences excuses what it names, by its path below golden/.
mkdir -p "$work/x/golden/structure"
cp "$cases"/metadata.* "$work/x/golden/structure/"
echo 'In `structure/metadata` the original is at fault.' >"$work/differences.md"
passes "$golden_runner" --differences "$work/differences.md" "$work/x/golden"
says "1 passed, 0 failed, 0 skipped"
echo 'In `structure/metadata` within 1000 the original is at fault.' >"$work/differences.md"
passes "$golden_runner" --differences "$work/differences.md" "$work/x/golden"
echo 'In `structure/metadata` within 1 the original is at fault.' >"$work/differences.md"
run "$golden_runner" --differences "$work/differences.md" "$work/x/golden"
[ $code -eq 1 ] || failed "a difference beyond its bound is excused"
run "$golden_runner" --differences "$work/differences.md" "$cases"
[ $code -eq 1 ] || failed "a bare name is excused"
cp "$work/metadata.bin" "$cases/metadata.bin"

# manifest SED: changes the manifest; it fails, saying TEXT.
changed() {
    printf '%s\n' "$original" | sed "$1" >"$cases/metadata.txt"
    closes "0 passed, 1 failed, 0 skipped" 1
    says "$2"
}
changed 's/^out 0 float32 1,3/out 0 float32 3,1/' "expected float32[3,1], got float32[1,3]"
changed 's/^out 0 float32/out 0 int32/' "expected int32[1,3], got float32[1,3]"
changed 's/^in 1 float32/in 1 int32/' "input 1 'main_y' is float32, not int32"
changed 's/^out 0/out 7/; s/^spread 0/spread 7/' "output 7 'main_o' does not exist"
changed 's/^\(out 0 .*\) @[0-9]*/\1 @4000/' "lies outside"
changed 's/^step/stepp/' "unknown word"
changed 's/^in 0 float32/in 0 float33/' "unknown TYPE"
changed 's/^golden 1/golden 2/' "the first line is not"
changed 's/^step/fails invoke because\nstep/' "ran, where the original refuses at invoke: because"
changed 's/^step/signature nothing\nstep/' "no signature runner for \"nothing\""
changed 's/^step/model models\/nothing.tflite\nstep/' "lies in no folder named golden"
printf '%s\n' "$original" >"$cases/metadata.txt"
mv "$cases/metadata.bin" "$work/kept.bin"
closes "0 passed, 1 failed, 0 skipped" 1
mv "$work/kept.bin" "$cases/metadata.bin"
mv "$cases/metadata.tflite" "$work/kept.tflite"
closes "0 passed, 1 failed, 0 skipped" 1
says "metadata.tflite cannot be read"
# A missing model must not pass for a refusal.
printf '%s\n' "$original" | sed 's/^step/fails load text\nstep/' >"$cases/metadata.txt"
closes "0 passed, 1 failed, 0 skipped" 1
head -c 100 "$work/kept.tflite" >"$cases/metadata.tflite"
closes "1 passed, 0 failed, 0 skipped" 0
cp "$work/kept.tflite" "$cases/metadata.tflite"
printf '%s\n' "$original" >"$cases/metadata.txt"

# The command line.
for arguments in "" "--kernels slow x" "--threads 0 x" "--tolerance x y" "--quantum -1 x" "--quantum x y" \
    "--option x y" "--frobnicate x"; do
    run "$golden_runner" $arguments
    [ $code -eq 2 ] && [ ! -s "$work/out" ] || failed "golden_runner $arguments"
done
run "$golden_runner" "$work/nowhere"
[ $code -eq 1 ] && grep -q 'nowhere' "$work/err" || failed "a path that is not there"
passes "$golden_runner" --help
finish
