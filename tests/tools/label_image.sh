#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# label_image and minimal: the lines of the originals, pictures as BMP and PNG, short and long flags, what is refused.
. "$(dirname "$0")/lib"
needs "$model" "$labels"
label() { "$bin/label_image" --tflite_model "$model" --labels "$labels" "$@"; }

# shows COMMAND...: exit code 0 and no error. As the original's, its lines come on standard error; they are put into $work/out,
# behind what is there.
shows() {
    run "$@"
    [ $code -eq 0 ] && ! grep -q "^INFO" "$work/out" && ! grep -qvE "^(INFO|WARN): " "$work/err" || failed "$*"
    cat "$work/err" >>"$work/out"
}

# lines: those that the original prints before the classes.
lines() {
    says "INFO: Loaded model $model"
    says "INFO: resolved reporter"
    matches '^INFO: invoked$'
    matches "^INFO: average time: $number ms\$"
}

for name in zero three seven; do
    shows label --image "$demo/$name.png"
    lines
    matches "^INFO: $number: [0-9] $name\$"
    [ "$(grep -E '^INFO: [0-9.e-]+: ' "$work/out" | head -n 1 | sed 's/.* //')" = $name ] || failed "the best is not $name"
done

# Falling scores, not more than asked for, none below 0.001.
shows label -i "$demo/eight.png" -r 10 -c 3 -w 0 -t 1
sed -n 's/^INFO: \([0-9.e-]*\): [0-9] .*/\1/p' "$work/out" >"$work/scores"
sort -g -r "$work/scores" | cmp -s - "$work/scores" || failed "scores do not fall"
awk '$1 < 0.001 { exit 1 }' "$work/scores" || failed "a score below 0.001"
shows label -i "$demo/eight.png" -r1
[ "$(grep -cE '^INFO: [0-9.e-]+: ' "$work/out")" -eq 1 ] || failed "-r1 gives not one class"

# The demo's picture as BMP: 24 bits, from the bottom; 8 bits with a palette, from the top. And a JPEG from elsewhere.
bmp() { # BITS HEIGHT START-OF-PIXELS SIZE
    printf 'BM\000\000\000\000\000\000\000\000'
    printf "\\$(printf '%03o' $(($3 % 256)))\\$(printf '%03o' $(($3 / 256)))\\000\\000"
    printf '\050\000\000\000\010\000\000\000'
    printf "$2\\001\\000\\$(printf '%03o' "$1")\\000\\000\\000\\000\\000\\000\\000\\000\\000"
    printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
}
picture='..####.. .#....#. ......#. .....#.. ....#... ...#.... ..#..... .######.' # a two
{
    bmp 24 '\010\000\000\000' 54
    for row in $(echo "$picture" | tr ' ' '\n' | sed -n '1!G;h;$p'); do echo "$row" | fold -w 1; done |
        while read -r dot; do if [ "$dot" = '#' ]; then printf '\377\377\377'; else printf '\000\000\000'; fi; done
} >"$work/two.bmp"
{
    bmp 8 '\370\377\377\377' 1078
    i=0
    while [ $i -lt 256 ]; do
        if [ $i -eq 7 ]; then printf '\377\377\377\000'; else printf '\000\000\000\000'; fi
        i=$((i + 1))
    done
    for row in $picture; do echo "$row" | fold -w 1; done |
        while read -r dot; do if [ "$dot" = '#' ]; then printf '\007'; else printf '\001'; fi; done
} >"$work/two8.bmp"
for file in two two8; do
    shows label --image="$work/$file.bmp"
    lines
    [ "$(grep -E '^INFO: [0-9.e-]+: ' "$work/out" | head -n 1 | sed 's/.* //')" = two ] || failed "$file.bmp is no two"
done

# Profile, verbose output, quantized model.
shows label -i "$demo/two.png" -p 1 -v 1
matches '^INFO:  *[0-9]+\.[0-9]{3}, Subgraph   0, Node   0, OpCode   3, CONV_2D$'
says "-----------Subgraph-0 has "
shows "$bin/label_image" -m "$demo/digits_int8.tflite" -l "$labels" -i "$demo/five.png"
matches "^INFO: $number: 5 five\$"
shows label -i "$demo/two.png" -a 1 -x 1 --use_nnapi=true
says "INFO: Applied XNNPACK delegate."
leaks_unseen
for device in opencl vulkan gles; do
    if "$halite" run --gpu --device $device -m "$model" >"$work/out" 2>"$work/err"; then
        shows label -i "$demo/two.png" --use_gpu=true --gpu_backend=$device
        says "INFO: Applied GPU delegate."
        matches "^INFO: $number: 2 two\$"
        shows label -i "$demo/two.png" -g 1 -f 1 --gpu_backend=$device
        matches "^INFO: $number: 2 two\$"
    else
        echo "left out: $device"
    fi
done

# The pictures and model of the original's documentation.
photo=$shared/images/photos/grace_hopper.bmp
classifier=$shared/models/classification/mobilenet_v1_1.0_224_quant.tflite
if has "$photo" "the original's picture" && has "$classifier" "its model"; then
    shows "$bin/label_image" -m "$classifier" -i "$photo" -l "$shared/images/imagenet/labels_1001.txt"
    [ "$(grep -E '^INFO: [0-9.e-]+: ' "$work/out" | head -n 1 | sed 's/^INFO: [0-9.e-]*: //')" = "653 military uniform" ] ||
        failed "no military uniform"
fi

complains "ERROR: nowhere.bmp: cannot be opened" label --image nowhere.bmp
complains "ERROR: nowhere.txt: cannot be opened" label --image "$demo/two.png" --labels nowhere.txt
complains "ERROR: ./mobilenet_quant_v1_224.tflite: " "$bin/label_image"
segments=$shared/models/segmentation/deeplabv3_mnv2_dm05_pascal_quant.tflite
if has "$segments" "a model that is no classifier"; then
    complains "one score for each class" "$bin/label_image" -m "$segments" -l "$labels" -i "$demo/two.png"
fi
refuses 2 "unknown flag --picture" label --picture x
refuses 2 "--profiling takes a whole number from 0 to 1, not '2'" label -p 2

# ---- minimal ------------------------------------------------------------------------------------------------------------
passes "$bin/minimal" "$model"
matches '^=== Pre-invoke Interpreter State ===$'
matches '^=== Post-invoke Interpreter State ===$'
says "Interpreter has 1 subgraphs."
matches '^1 Inputs: \[[0-9]+\] -> 256B \(0\.00MB\)$'
matches '^1 Outputs: \[[0-9]+\] -> 40B \(0\.00MB\)$'
matches '^Tensor  *[0-9]+ .* kTfLiteFloat32  *kTfLiteArenaRw  *256  */ 0\.00 \[1,8,8,1\] \[[0-9]+, [0-9]+\)$'
matches '^Node   0 Operator Builtin Code   3 CONV_2D \(not delegated\)$'
matches '^  [0-9] Input Tensors:\[[0-9,-]+\] -> [0-9]+B \([0-9.]+MB\)$'
matches '^Execution plan as the list of [0-9]+ nodes invoked in-order: \[0-[0-9]+\]$'
matches '^kTfLiteArenaRw Info: $'
matches '^kTfLiteDynamic Info: not holding any allocation\.$'
matches '^Total memory usage: [0-9]+ bytes \([0-9.]+ MB\)$'
[ "$(grep -c -- '--------------Subgraph-0 dump has completed--------------' "$work/out")" -eq 2 ] || failed "not two dumps"
complains "minimal <tflite model>" "$bin/minimal"
complains "Error at tools/minimal.c:" "$bin/minimal" "$labels"
complains "ERROR: nowhere.tflite: " "$bin/minimal" nowhere.tflite
finish
