#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite run: inputs from every source, outputs to every kind of file, and what it refuses.
. "$(dirname "$0")/lib"
needs "$model"
in=$work/in
mkdir "$in"

passes "$halite" run -m "$model"
says "one run in "
says "float32[1,10]"
cp "$work/out" "$work/first"
passes "$halite" run -m "$model" --repeat 3 -i 0=random
says "3 runs, "
[ "$(tail -n 2 "$work/out")" = "$(tail -n 2 "$work/first")" ] || failed "random differs from random"
passes "$halite" run -m "$model" -i image=random:2
[ "$(tail -n 2 "$work/out")" != "$(tail -n 2 "$work/first")" ] || failed "the seed changes nothing"
passes "$halite" run -m "$model" -i image=zeros -k reference -t 1

# Out as .raw, .npy, .txt, and in again as the other tensor type's file.
passes "$halite" run -m "$model" -i 0=random:5 -o probabilities="$in/o.npy"
passes "$halite" run -m "$model" -i 0=random:5 -o 0="$in/o.raw"
passes "$halite" run -m "$model" -i 0=random:5 -o 0="$in/o.txt"
[ "$(wc -c <"$in/o.raw")" -eq 40 ] && [ "$(wc -c <"$in/o.npy")" -eq 168 ] && [ "$(wc -l <"$in/o.txt")" -eq 10 ] ||
    failed "sizes of the output files"
tail -c 40 "$in/o.npy" | cmp -s - "$in/o.raw" || failed ".npy and .raw differ"

head -c 256 /dev/zero >"$in/zeros.raw"
printf '0 0,0\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 >"$in/zeros.txt"
echo '0' >>"$in/zeros.txt"
npy "$in/zeros.npy" '<f4' '(1, 8, 8, 1)' "$(printf '\\000%.0s' $(seq 256))"
passes "$halite" run -m "$model" -i 0=zeros -o 0="$in/a.raw"
for file in zeros.raw zeros.txt zeros.npy; do
    passes "$halite" run -m "$model" -i 0="$in/$file" -o 0="$in/b.raw"
    cmp -s "$in/a.raw" "$in/b.raw" || failed "$file is not zeros"
done

# The shape of an array, or of --shape, resizes the input where the model allows it.
npy "$in/two.npy" '<f4' '(2, 8, 8, 1)' "$(printf '\\000%.0s' $(seq 512))"
passes "$halite" run -m "$model" -i 0="$in/two.npy"
says "float32[2,10]"
passes "$halite" run -m "$model" -s image=3,8,8,1
says "float32[3,10]"
passes "$halite" run -m "$model" --signature serving_default -i image=zeros
says probabilities

# ---- what does not fit ----------------------------------------------------------------------------------------------------
go() { "$halite" run -m "$model" "$@"; }
refuses 1 "has no input 'nothing'; it has 0 'image'" go -i nothing=zeros
refuses 1 "has no input '1'" go -i 1=zeros
refuses 1 "'zeros' has no '='; the name or number of an input comes before it" go -i zeros
refuses 1 "'y.npy' has no '='; the name or number of an output comes before it" go -o y.npy
refuses 1 "whole numbers up to 2147483647" go -s 0=1,2147483648,8,1
refuses 1 "is given twice" go -i 0=zeros -i image=zeros
refuses 1 "has no output 'x'" go -o x=y.npy
refuses 1 "y.jpg: is no file for an output" go -o 0=y.jpg
refuses 1 "has no signature 'nothing'; it has serving_default" go --signature nothing
refuses 1 "frobnicate: for input 0 'image': is no value" go -i 0=frobnicate
refuses 1 "the seed is not a whole number" go -i 0=random:x
refuses 1 "text: is for string tensors" go -i 0=text:hello
refuses 1 "nowhere.npy: cannot be opened" go -i 0=nowhere.npy
mkdir "$in/folder.npy"
refuses 1 "$in/folder.npy: is a folder" go -i 0="$in/folder.npy"
refuses 1 "nowhere.raw: cannot be opened" go -i 0=nowhere.raw
head -c 255 /dev/zero >"$in/short.raw"
refuses 1 "the file has 255 bytes, the tensor takes 256" go -i 0="$in/short.raw"
echo '1 2 3' >"$in/few.txt"
refuses 1 "holds 3 numbers where the tensor takes 64" go -i 0="$in/few.txt"
{ cat "$in/zeros.txt"; echo 1; } >"$in/many.txt"
refuses 1 "holds more than the 64 numbers" go -i 0="$in/many.txt"
sed '3s/0/zero/' "$in/zeros.txt" >"$in/word.txt"
refuses 1 "'zero' (number 7) is no value" go -i 0="$in/word.txt"

# NaN, in a file of text and in an array.
sed '2s/0/nan/' "$in/zeros.txt" >"$in/nan.txt"
refuses 1 "element 3 is not a number (NaN), one of 1" go -i 0="$in/nan.txt"
run go --allow-nan -i 0="$in/nan.txt"
[ $code -eq 0 ] || failed "--allow-nan"

# Damaged, strange and huge arrays.
printf 'no array' >"$in/no.npy"
: >"$in/empty.npy"
head -c 60 "$in/zeros.npy" >"$in/cut.npy"
head -c 200 "$in/zeros.npy" >"$in/short.npy"
npy "$in/type.npy" '<f8' '(1, 8, 8, 1)' "$(printf '\\000%.0s' $(seq 512))"
npy "$in/big.npy" '>f4' '(1, 8, 8, 1)' ''
npy "$in/object.npy" '|O' '(1, 8, 8, 1)' ''
npy "$in/order.npy" '<f4' '(1, 8, 8, 1)' '' True
npy "$in/rank.npy" '<f4' '(1, 64)' "$(printf '\\000%.0s' $(seq 256))"
npy "$in/huge.npy" '<f4' '(2000000000, 2000000000, 2000000000)' ''
npy "$in/dim.npy" '<f4' '(99999999999,)' ''
npy "$in/odd.npy" '<f4' '(1, 8, 8' ''
refuses 1 "$in/no.npy: is no .npy file" go -i 0="$in/no.npy"
refuses 1 "$in/empty.npy: is no .npy file" go -i 0="$in/empty.npy"
refuses 1 "$in/cut.npy: is a damaged .npy file" go -i 0="$in/cut.npy"
refuses 1 "$in/short.npy: is a damaged .npy file: 72 bytes of data where its shape takes 256" go -i 0="$in/short.npy"
refuses 1 "$in/type.npy: for input 0 'image': the file holds float64, the tensor takes float32" go -i 0="$in/type.npy"
refuses 1 "is big-endian" go -i 0="$in/big.npy"
refuses 1 "which no tensor has" go -i 0="$in/object.npy"
refuses 1 "is in Fortran order" go -i 0="$in/order.npy"
refuses 1 "$model: CONV_2D" go -i 0="$in/rank.npy"
refuses 1 "a shape too large for any machine" go -i 0="$in/huge.npy"
refuses 1 "has a dimension above" go -i 0="$in/dim.npy"
refuses 1 "its header makes no sense" go -i 0="$in/odd.npy"

# Shapes.
refuses 1 "the shape is not made of whole numbers" go -s 0=1,8,8,x
refuses 1 "the shape is not made of whole numbers" go -s 0=-1,8,8,1
refuses 1 "$model: " go -s 0=2000000000,8,8,1
refuses 1 "input 0 'image': the shape 2000000000,2000000000,2000000000,1 is refused" go -s 0=2000000000,2000000000,2000000000,1

# Outputs that cannot be written leave nothing, and never remove a device.
run go -o 0=/nowhere/o.npy
[ $code -eq 1 ] && grep -q '^halite run: /nowhere/o.npy: cannot be written' "$work/err" || failed "an unwritable output"
if [ -w /dev/full ]; then
    ln -s /dev/full "$in/full.npy"
    run go -o 0="$in/full.npy"
    [ $code -eq 1 ] && grep -q 'full.npy: cannot be written' "$work/err" || failed "a full disk"
    [ -e "$in/full.npy" ] && [ -e /dev/full ] || failed "a device was removed"
fi

if has "$shared/golden/structure/string_in_out.tflite" "strings, a NaN in an output"; then
    echo '1 nan 3' >"$in/three.txt"
    run "$halite" run --allow-nan -m "$shared/golden/structure/metadata.tflite" -i 0="$in/three.txt"
    [ $code -eq 0 ] && grep -q "^halite run: warning: .* output 0 'main_o' holds 1 NaN, the first at element 1" "$work/err" ||
        failed "no warning for a NaN in the output"
    printf 'one\ntwo\nthree\n' >"$in/strings.txt"
    passes "$halite" run -m "$shared/golden/structure/string_in_out.tflite" -i x="$in/strings.txt" -o 0="$in/strings.out.txt"
    cat "$in/strings.txt" "$in/strings.txt" | cmp -s - "$in/strings.out.txt" || failed "strings"
    passes "$halite" run -m "$shared/golden/structure/string_in_out.tflite" -i x=text:hello
    says '"hello"'
fi

# Exact integers on a GPU are the reference kernels'.
refuses 1 "--quantized is for --gpu; the delegate no/such.so chooses its own" \
    "$halite" run "$demo/digits_int8.tflite" --delegate no/such.so --quantized exact
if has_opencl; then
    passes "$halite" run "$demo/digits_int8.tflite" --kernels reference -o 0="$in/reference.raw"
    passes "$halite" run "$demo/digits_int8.tflite" --device opencl --quantized exact -o 0="$in/exact.raw"
    cmp -s "$in/reference.raw" "$in/exact.raw" || failed "exact integers"
fi

# A white picture of another size is as many ones, and what a sound of three samples (0.5, -1, 0.25) leaves over is zeros.
white_picture "$in/white.PPM" 30 20
printf '1 %.0s' $(seq 64) >"$in/ones.txt"
{ printf 'RIFF\052\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\200\076\000\000\000\175\000\000\002\000\020\000'
    printf 'data\006\000\000\000\000\100\000\200\000\040'; } >"$in/sound.wav"
{ printf '0.5 -1 0.25'; printf ' 0%.0s' $(seq 61); } >"$in/sound.txt"
for pair in white.PPM:ones.txt sound.wav:sound.txt; do
    passes "$halite" run "$model" -i "0=$in/${pair%:*}" -o "0=$in/media.raw"
    passes "$halite" run "$model" -i "0=$in/${pair#*:}" -o "0=$in/same.raw"
    cmp -s "$in/media.raw" "$in/same.raw" || failed "$pair"
done
refuses 1 "float32 or int16" "$halite" run "$demo/digits_int8.tflite" -i "0=$in/sound.wav"
printf "no sound at all, but long enough" >"$in/not.wav"
refuses 1 "is no WAV file" "$halite" run "$model" -i "0=$in/not.wav"
passes "$halite" run "$model" -i "0=$in/ones.txt"
matches "^      largest $number at [0-9], $number at [0-9], "
passes "$halite" run "$demo/digits_int8.tflite" -i 0=zeros
matches "^      real value = $number \* \(stored - -128\): $number "
finish
