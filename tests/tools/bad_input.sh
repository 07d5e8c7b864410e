#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that are not what they should be. Each gives exit code 1 and one line that says what and where; nothing is left behind.
. "$(dirname "$0")/lib"
needs "$model" "$labels" "$demo/three.png"
three=$demo/three.png
bad=$work/bad
mkdir "$bad"

: >"$bad/empty"
printf 'This is no model and no picture.\n' >"$bad/text"
head -c 100 "$model" >"$bad/cut.tflite"
{ head -c 4 "$model"; printf 'TFL2'; tail -c +9 "$model"; } >"$bad/other.tflite"
{ head -c 64 "$model"; head -c 4000 /dev/zero | tr '\000' '\377'; } >"$bad/garbled.tflite"

# ---- models, in every subcommand ---------------------------------------------------------------------------------------
for command in label run bench inspect transcribe-keywords capsule; do
    case $command in
    label) subcommand() { "$halite" label -m "$1" "$three"; } ;;
    transcribe-keywords) subcommand() { "$halite" transcribe-keywords -m "$1" "$three"; } ;;
    capsule) subcommand() { "$halite" capsule make "$1" -o "$bad/made.capsule"; } ;;
    inspect) subcommand() { "$halite" inspect "$1"; } ;;
    *) subcommand() { "$halite" "$command" -m "$1"; } ;;
    esac
    refuses 1 "halite $command: nowhere.tflite: " subcommand nowhere.tflite
    for file in empty text cut.tflite other.tflite garbled.tflite; do
        refuses 1 "halite $command: $bad/$file: " subcommand "$bad/$file"
    done
    refuses 1 "halite $command: $bad: " subcommand "$bad"
    refuses 1 "halite $command: /dev/null: " subcommand /dev/null
    refuses 1 "halite $command: $three: " subcommand "$three"
done
cp "$model" "$bad/unreadable.tflite"
chmod 000 "$bad/unreadable.tflite"
if [ -r "$bad/unreadable.tflite" ]; then
    echo "left out: unreadable files (this user reads everything)"
else
    refuses 1 "$bad/unreadable.tflite: " "$halite" run -m "$bad/unreadable.tflite"
    refuses 1 "Permission denied" "$halite" inspect "$bad/unreadable.tflite"
    cp "$three" "$bad/unreadable.png"
    chmod 000 "$bad/unreadable.png"
    refuses 1 "Permission denied" "$halite" label --tsv -m "$model" "$bad/unreadable.png"
fi

# ---- delegates -------------------------------------------------------------------------------------------------------------
refuses 1 "halite run: the delegate cannot be opened: " "$halite" run -d ./nowhere.so -m "$model"
refuses 1 "halite run: the delegate cannot be opened: " "$halite" run -d "$model" -m "$model"
library=$(ls /lib/*/libm.so.6 2>/dev/null | head -n 1)
if has "${library:-libm}" "a library that is no delegate"; then
    refuses 1 "halite bench: $library: is no delegate" "$halite" bench -d "$library" -m "$model"
fi

# ---- labels ---------------------------------------------------------------------------------------------------------------
label() { "$halite" label --tsv -m "$model" "$@"; }
refuses 1 "nowhere.txt: cannot be opened" label -l nowhere.txt "$three"
refuses 1 "$bad: is a folder, not a file" label -l "$bad" "$three"
refuses 1 "$bad/empty: is empty" label -l "$bad/empty" "$three"
refuses 1 "$model: is no text file" label -l "$model" "$three"
head -n 9 "$labels" >"$bad/nine.txt"
{ cat "$labels"; echo eleven; } >"$bad/eleven.txt"
printf '\n\n\n' >"$bad/blank.txt"
refuses 1 "$bad/nine.txt: holds 9 names, but $model has 10 classes" label -l "$bad/nine.txt" "$three"
refuses 1 "$bad/eleven.txt: holds 11 names, but $model has 10 classes" label -l "$bad/eleven.txt" "$three"
refuses 1 "$bad/blank.txt: holds no class names" label -l "$bad/blank.txt" "$three"

# ---- pictures -------------------------------------------------------------------------------------------------------------
picture() {
    refuses 1 "halite label: $1: $2" label "$1"
}
picture nowhere.jpg "cannot be opened: No such file"
mkdir "$bad/folder"
picture "$bad/folder" "is a folder without pictures"
picture "$bad/empty" "is empty"
picture "$bad/text" "is no picture that can be read here"
picture "$model" "is no picture that can be read here"
printf 'P2\n1 1\n255\n7\n' >"$bad/words.pgm"
picture "$bad/words.pgm" "is a PGM or PPM picture in plain text; a binary one (P5 or P6) can be read"
head -c 120 "$three" >"$bad/cut.png"
picture "$bad/cut.png" "is a damaged PNG file"
head -c 8 "$three" >"$bad/start.png"
picture "$bad/start.png" "is a damaged PNG file"
printf 'BM' >"$bad/start.bmp"
picture "$bad/start.bmp" "is a damaged BMP file"
# 24 bits, 4 x 4: 14 + 40 bytes of header, rows of 12 bytes; the last row is missing.
{
    printf 'BM\146\000\000\000\000\000\000\000\066\000\000\000\050\000\000\000\004\000\000\000\004\000\000\000'
    printf '\001\000\030\000\000\000\000\000\060\000\000\000'
    head -c 16 /dev/zero
    head -c 48 /dev/zero
} >"$bad/whole.bmp"
passes label "$bad/whole.bmp"
head -c 90 "$bad/whole.bmp" >"$bad/cut.bmp"
picture "$bad/cut.bmp" "is a damaged BMP file: it ends before its last row"
printf 'P6\n4 4\n255\n123' >"$bad/cut.ppm"
picture "$bad/cut.ppm" "is a damaged PNM file: it ends before its last pixel"
printf 'P6\n4\n' >"$bad/header.ppm"
picture "$bad/header.ppm" "is a damaged PNM file: its header is not three numbers"
printf 'P5\n4 4\n65535\n%032d' 0 >"$bad/deep.pgm"
picture "$bad/deep.pgm" "is a PNM file with values up to 65535"
printf 'P5\n0 4\n255\n' >"$bad/none.pgm"
picture "$bad/none.pgm" "is 0 x 4 pixels"
printf 'P5\n60000 60000\n255\n' >"$bad/huge.pgm"
picture "$bad/huge.pgm" "is 60000 x 60000 pixels"
printf 'P5\n99999999999999999999 4\n255\n' >"$bad/huger.pgm"
picture "$bad/huger.pgm" "is "
# A PNG header that promises 2000000000 x 2000000000 pixels.
{
    printf '\211PNG\r\n\032\n\000\000\000\015IHDR\167\065\224\000\167\065\224\000\010\000\000\000\000\000\000\000\000'
} >"$bad/huge.png"
picture "$bad/huge.png" "is "
if has "$shared/images/photos/burger.jpg" "damaged JPEG files"; then
    head -c 20000 "$shared/images/photos/burger.jpg" >"$bad/cut.jpg"
    picture "$bad/cut.jpg" "is a damaged JPEG file"
    head -c 300 "$shared/images/photos/burger.jpg" >"$bad/header.jpg"
    picture "$bad/header.jpg" "is a damaged JPEG file"
    { head -c 9000 "$shared/images/photos/burger.jpg"; head -c 5000 /dev/zero | tr '\000' '\252'; } >"$bad/garbled.jpg"
    picture "$bad/garbled.jpg" "is a damaged JPEG file"
fi

# ---- models that do not name pictures -------------------------------------------------------------------------------------
if has "$shared/models/detection" "models that are no classifiers"; then
    refuses 1 "has 2 inputs; a model with one input" "$halite" label -m "$shared/golden/structure/metadata.tflite" "$three"
    segments=$shared/models/segmentation/deeplabv3_mnv2_dm05_pascal_quant.tflite
    refuses 1 "one score for each class" "$halite" label -m "$segments" "$three"
    refuses 1 "is wanted" "$halite" label -m "$shared/models/micro/hello_world_float.tflite" "$three"
    refuses 1 "tftext:WhitespaceTokenizer" "$halite" run -m "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite"
fi
finish
