#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite label on the demo model: right classes, both forms of output, several pictures, bad ones among them.
. "$(dirname "$0")/lib"
needs "$model" "$labels" "$demo/three.png" "$demo/seven.png"

passes "$halite" label --model "$model" --labels "$labels" "$demo/three.png"
says "three.png (128 x 128), one inference in "
says " nodes on the CPU: "
grep -qE '^ +[0-9.]+ %  three +\(class 3\)$' "$work/out" || failed "no probability of three"
[ "$(grep -c '(class' "$work/out")" -eq 5 ] || failed "not five classes"
[ "$(grep -m 1 '(class' "$work/out" | awk '{ print $3 }')" = three ] || failed "three is not first"

# The model stands first, or behind --model.
passes "$halite" label --tsv "$model" "$demo/three.png" "$demo/seven.png" -l "$labels"
cp "$work/out" "$work/bare"
passes "$halite" label --tsv -m "$model" "$demo/three.png" "$demo/seven.png" -l "$labels"
cmp -s "$work/out" "$work/bare" || failed "the model first, or behind --model"
[ "$(wc -l <"$work/bare")" -eq 10 ] || failed "a picture was taken for the model"

# --device and --precision ask for the GPU; with another delegate the second means nothing.
run "$halite" label --device nonsense -m "$model" "$demo/three.png"
[ $code -eq 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
    grep -q 'device nonsense: unknown; known are auto, ' "$work/err" || failed "--device nonsense"
run "$halite" bench --precision f16 --device null "$model"
! grep -q 'nodes on the CPU' "$work/out" || failed "--precision without --gpu is dropped"

# Lines for programs: picture, rank, class index, label, score.
tab=$(printf '\t')
index=0
for name in zero one two three four five six seven eight nine; do
    has "$demo/$name.png" "the digit $name" || { index=$((index + 1)); continue; }
    passes "$halite" label --tsv --top 1 -m "$model" -l "$labels" "$demo/$name.png"
    grep -q "^$demo/$name.png${tab}1${tab}$index${tab}$name${tab}0\.[0-9]*\$\|${tab}$index${tab}$name${tab}1\$" "$work/out" ||
        failed "$name is not recognized"
    index=$((index + 1))
done
passes "$halite" label --tsv --top 10 -m "$model" -l "$labels" "$demo/three.png" "$demo/seven.png"
[ "$(wc -l <"$work/out")" -eq 20 ] || failed "not 20 lines"
awk -F "$tab" 'NF != 5 { exit 1 }' "$work/out" || failed "not five columns"
awk -F "$tab" '{ if ($2 != (NR - 1) % 10 + 1) exit 1; if ($2 > 1 && $5 > last) exit 1; last = $5 }' "$work/out" ||
    failed "ranks or scores out of order"
awk -F "$tab" '{ sum += $5 } END { exit !(sum > 1.99 && sum < 2.01) }' "$work/out" || failed "no probabilities"

# More classes asked for than there are; no labels; other spellings of flags.
passes "$halite" label --tsv --top=100 -m "$model" "$demo/three.png"
[ "$(wc -l <"$work/out")" -eq 10 ] || failed "not 10 lines"
passes "$halite" label -n1 -m"$model" -l"$labels" "$demo/three.png" -k reference -t 2
says three
passes "$halite" label -n 1 -m "$model" "$demo/three.png"
says "class 3"

# The same pictures as the float model sees, for the int8 one.
if has "$demo/digits_int8.tflite" "the int8 model"; then
    passes "$halite" label --tsv -n 1 -m "$demo/digits_int8.tflite" -l "$labels" "$demo/three.png" "$demo/seven.png"
    [ "$(cut -f 4 "$work/out" | tr '\n' ' ')" = "three seven " ] || failed "wrong digits"
    # The model's own normalization, given: pixels are quantized to the same bytes, but for rounding.
    passes "$halite" label --tsv -n 1 --mean 127.5 --std 127.5 -m "$demo/digits_int8.tflite" -l "$labels" "$demo/three.png"
    says three
fi
passes "$halite" label --tsv -n 1 --mean 127.5 --std 127.5 -m "$model" -l "$labels" "$demo/three.png"
says three
# An inverted picture is another one.
passes "$halite" label --tsv -n 1 --mean 255 --std 1 -m "$model" -l "$labels" "$demo/three.png"

# One bad picture: the others go on, exit code 1, one message.
run "$halite" label --tsv -n 1 -m "$model" -l "$labels" "$demo/three.png" nowhere.png "$demo/seven.png"
[ $code -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || failed "one bad among three"
grep -q '^halite label: nowhere.png: ' "$work/err" || failed "the bad picture is not named"

# Carriage returns and a byte order mark are no part of a label; tabs in one do not add columns.
printf '\357\273\277' >"$work/windows.txt"
sed 's/$/'"$(printf '\r')"'/' "$labels" >>"$work/windows.txt"
passes "$halite" label --tsv -n 10 -m "$model" -l "$work/windows.txt" "$demo/three.png"
cp "$work/out" "$work/windows.out"
passes "$halite" label --tsv -n 10 -m "$model" -l "$labels" "$demo/three.png"
cmp -s "$work/out" "$work/windows.out" || failed "carriage returns change the output"
sed "s/three/thr${tab}ee/" "$labels" >"$work/tab.txt"
passes "$halite" label --tsv -n 1 -m "$model" -l "$work/tab.txt" "$demo/three.png"
awk -F "$tab" 'NF != 5 { exit 1 }' "$work/out" || failed "a tab in a label adds a column"

# Every format that can be read, and a name with odd characters.
printf 'P5\n# a comment\n8 8\n255\n%064d' 0 >"$work/a b$(printf '\033').pgm"
passes "$halite" label -m "$model" "$work/a b$(printf '\033').pgm"
says '\x1b.pgm'
printf 'P6\n2 1\n255\n123456' >"$work/small.ppm"
passes "$halite" label -m "$model" "$work/small.ppm"

# JPEG with four inks of 200 each: 200 * 200 / 255 of light where Adobe inverts them, else 55 * 55 / 255, cut off.
zeros='\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
inks() {
    printf '\377\330'
    [ -z "$1" ] || printf '\377\356\000\016Adobe\000\144\000\000\000\000\000'
    printf '\377\333\000\103\000%s' "$(printf '%064d' 0 | tr 0 '\010')"
    printf '\377\300\000\024\010\000\010\000\010\004\001\021\000\002\021\000\003\021\000\004\021\000'
    printf "\\377\\304\\000\\024\\000\\001$zeros\\007\\377\\304\\000\\024\\020\\001$zeros\\000"
    printf '\377\332\000\016\004\001\000\002\000\003\000\004\000\000\077\000\110\044\022\011\017\377\331'
}
for kind in 'adobe \234' ' \013'; do
    inks "${kind% *}" >"$work/inks.jpg"
    { printf 'P5\n8 8\n255\n' && printf '%064d' 0 | LC_ALL=C tr 0 "${kind#* }"; } >"$work/gray.pgm"
    passes "$halite" label --tsv -n 10 -m "$model" "$work/inks.jpg"
    cut -f 2- "$work/out" >"$work/inks.out"
    passes "$halite" label --tsv -n 10 -m "$model" "$work/gray.pgm"
    cut -f 2- "$work/out" | cmp -s - "$work/inks.out" || failed "four inks ($kind)"
done
finish
