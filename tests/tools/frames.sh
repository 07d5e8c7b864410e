#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Videos through a pipe, for the commands on pictures: each kind's frames, by a model that gives back what it gets; what is
# cut off or damaged; a live one. Pictures of ../shared stand for a camera's, where they are.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/transform_models.py" "$demo" "$work" || failed "the models"
mkdir "$work/made"
same="$work/same.tflite"

# frames FORMAT FILE: what comes of it, as pictures in $work/made.
frames() {
    rm -f "$work"/made/*
    run "$halite" transform "$same" - --frames "$1" -o "$work/made" -f tsv <"$work/$2"
}

# gives COUNT: so many frames, and nothing went wrong.
gives() {
    [ $code -eq 0 ] && [ ! -s "$work/err" ] && [ "$(ls "$work/made" | wc -l)" -eq "$1" ] || failed "$1 frames"
}

# stops COUNT TEXT: so many frames, then the message.
stops() {
    [ $code -eq 1 ] && grep -qF -- "$2" "$work/err" && [ "$(ls "$work/made" | wc -l)" -eq "$1" ] || failed "$2"
}

# The same two pictures as raw pixels, as PPM with a comment, as PGM: what comes out is what went in.
"$python" - "$work" <<'END'
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
first, second = bytes(range(96)), bytes(reversed(range(100, 196)))
(folder / "raw").write_bytes(first + second)
(folder / "cut").write_bytes(first + second[:-1])
(folder / "ppm").write_bytes(b"P6 8\n4\n255\n" + first + b"P6\n# a comment\n8 4 # 9 9\n255\t" + second)
(folder / "pgm").write_bytes(b"P5 8 4 255\n" + first[::3])
(folder / "deep").write_bytes(b"P6 8 4 65535\n" + first * 2)
for name, data in (("first", first), ("second", second)):
    (folder / name).write_text("".join(f"{data[i]},{data[i + 1]},{data[i + 2]}\n" for i in range(0, 96, 3)))

# Colors of BT.601, whose bytes stand in the recommendation: black, white, red, green, blue.
colors = ((16, 128, 128), (235, 128, 128), (81, 90, 240), (145, 54, 34), (41, 240, 110))
video = b"YUV4MPEG2 W8 H4 F25:1 Ip A1:1 C420jpeg\n"
for y, u, v in colors:
    video += b"FRAME\n" + bytes([y] * 32 + [u] * 8 + [v] * 8)
(folder / "y4m").write_bytes(video)
(folder / "odd").write_bytes(b"YUV4MPEG2 W7 H3\n" + 2 * (b"FRAME Ip\n" + bytes([90] * 21 + [128] * 16)))
(folder / "wide").write_bytes(b"YUV4MPEG2 W8 H4 C422\n" + 2 * (b"FRAME\n" + bytes([90] * 32 + [128] * 32)))
(folder / "full").write_bytes(b"YUV4MPEG2 W8 H4 Cmono XCOLORRANGE=FULL\nFRAME\n" + bytes(range(0, 256, 8)))
(folder / "ten").write_bytes(b"YUV4MPEG2 W8 H4 C420p10\nFRAME\n")
(folder / "endless").write_bytes(b"YUV4MPEG2 " + b"X" * 1000)
END
for kind in raw ppm; do
    case $kind in raw) format=8x4 ;; *) format=$kind ;; esac
    frames $format $kind
    gives 2
    for name in first second; do
        case $name in first) file=frame-000001 ;; *) file=frame-000002 ;; esac
        png_pixels "$work/made/$file.png" | cmp -s - "$work/$name" || failed "$kind: the $name frame"
    done
done
frames ppm pgm
gives 1
frames y4m y4m
gives 5
for file in "$work"/made/*; do png_pixels "$file" | sort -u; done >"$work/out"
awk -F , 'BEGIN { split("0,0,0,255,255,255,255,0,0,0,255,0,0,0,255", want) }
    { for (c = 1; c <= 3; c++) { off = $c - want[3 * (NR - 1) + c]; if (off > 2 || off < -2) exit 1 } }
    END { exit NR != 5 }' "$work/out" || failed "colors of y4m"
frames y4m odd
gives 2
frames y4m wide
gives 2
frames y4m full
gives 1
png_pixels "$work/made/frame-000001.png" | awk -F , '$1 != (NR - 1) * 8 || $2 != $1 { exit 1 }' || failed "gray, full range"

frames 8x4 cut
stops 1 "frame-000002: is cut off"
frames ppm deep
stops 0 "values up to 255"
frames y4m ten
stops 0 "colors that are not read here"
frames y4m endless
stops 0 "has a header that does not end"
frames y4m ppm
stops 0 "does not begin with YUV4MPEG2"
: >"$work/empty"
for format in mjpeg ppm y4m 8x4; do
    frames $format empty
    stops 0 "standard input: has no frame"
done
refuses 1 "no format of frames" "$halite" transform "$same" - --frames avi -o "$work/made"
refuses 1 "no format of frames" "$halite" transform "$same" - --frames 0x4 -o "$work/made"
refuses 1 "no format of frames" "$halite" transform "$same" - --frames 8x4x -o "$work/made"
refuses 1 "is not -, the one picture" "$halite" transform "$same" "$work/ppm" --frames ppm -o "$work/made"
refuses 1 "is no folder, which several pictures need" "$halite" transform "$same" - --frames ppm -o "$work/one.png"

# A frame is answered before the next one is there, as a line of JSON.
mkfifo "$work/in" "$work/answers"
timeout 60 "$halite" transform "$same" - --frames 8x4 -f json -o "$work/made" <"$work/in" >"$work/answers" 2>"$work/err" &
exec 3>"$work/in" 4<"$work/answers"
for frame in 1 2; do
    head -c 96 "$work/raw" >&3
    read -r line <&4 || line=
    case $line in
    "{\"picture\":\"frame-00000$frame\","*) ;;
    *) failed "a live frame: $line" ;;
    esac
done
exec 3>&- 4<&-
wait

# A camera's parts, with one of them damaged and the last one cut off.
photo=$shared/images/photos/burger.jpg
if has "$photo" "JPEG frames"; then
    { printf -- '--part\r\nContent-Type: image/jpeg\r\n\r\n' && cat "$photo" && printf '\r\n--part\r\n\r\n' && cat "$photo" &&
        printf '\377\330\377\332\000\002\001\377\331' && cat "$photo" && head -c 9999 "$photo"; } >"$work/mjpeg"
    frames mjpeg mjpeg
    stops 3 "frame-000005: is a damaged JPEG picture: it ends before its end marker"
    grep -q "frame-000003: is a damaged JPEG file" "$work/err" || failed "the damaged frame"
    cmp -s "$work/made/frame-000001.png" "$work/made/frame-000004.png" || failed "the frame behind a damaged one"
fi
finish
