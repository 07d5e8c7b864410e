#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pictures that are not as they seem: turned by a camera, with more scans than anyone writes, too large for the memory there is.
. "$(dirname "$0")/lib"
needs "$model"
command -v python3 >/dev/null || { echo "skipped: no python3 to make pictures with"; exit 77; }
jpeg() {
    python3 "$root/tests/tools/jpeg.py" "$@" || exit 1
}

# Each of Exif's eight orientations, in both byte orders: the model sees the same picture, and the size told is the upright one.
two='..####.. .#....#. ......#. .....#.. ....#... ...#.... ..#..... .######.'
# shellcheck disable=SC2086  # rows are words
jpeg picture "$work/upright.jpg" 1 none $two
passes "$halite" label --tsv -m "$model" "$work/upright.jpg"
cut -f 2- "$work/out" >"$work/wanted"
[ "$(head -n 1 "$work/wanted" | cut -f 2)" = 2 ] || failed "the drawing is not recognized"
for endian in little big; do
    for orientation in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2086
        jpeg picture "$work/turned.jpg" $orientation $endian $two
        passes "$halite" label --tsv -m "$model" "$work/turned.jpg"
        cut -f 2- "$work/out" | cmp -s - "$work/wanted" || failed "orientation $orientation, $endian endian"
    done
done
# Higher than wide, so that width and height change places.
# shellcheck disable=SC2086
jpeg picture "$work/high.jpg" 6 little $two ........ ........
passes "$halite" label -m "$model" "$work/high.jpg"
says "high.jpg (64 x 80)"
# A damaged directory is none.
head -c 40 "$work/turned.jpg" >"$work/cut.jpg"
refuses 1 "is a damaged JPEG file" "$halite" label -m "$model" "$work/cut.jpg"

# A progressive picture with few scans is read; thousands of them, a few bytes each, would take hours.
jpeg scans "$work/few.jpg" 16 20
passes "$halite" label -m "$model" "$work/few.jpg"
jpeg scans "$work/many.jpg" 16 5000
refuses 1 "more than 500 scans" "$halite" label -m "$model" "$work/many.jpg"

# PNG files that end early, and one whose header alone asks for too much.
head -c 60 "$demo/seven.png" >"$work/cut.png"
refuses 1 "is a damaged PNG file: it ends before its last pixel" "$halite" label -m "$model" "$work/cut.png"
{
    printf '\211PNG\r\n\032\n\000\000\000\rIHDR\000\000N \000\000N '
    tail -c +25 "$demo/seven.png"
} >"$work/wide.png"
refuses 1 "is 20000 x 20000 pixels" "$halite" label -m "$model" "$work/wide.png"

# No memory for the pixels of a PNG file: a message. (Sanitizers need more address space than is left here.)
python3 -c '
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
packer = zlib.compressobj(9)
data = b"".join(packer.compress(bytes(10001)) for _ in range(10000)) + packer.flush()
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 10000, 10000, 8, 0, 0, 0, 0))
                              + chunk(b"IDAT", data) + chunk(b"IEND", b""))
' "$work/large.png"
if (ulimit -v 200000 && "$halite" --version) >/dev/null 2>&1; then
    for kilobytes in 150000 200000 250000 300000; do
        run sh -c "ulimit -v $kilobytes; exec \"\$@\"" _ "$halite" label -m "$model" "$work/large.png"
        [ $code -eq 1 ] && grep -q "does not fit into memory\|out of memory" "$work/err" || failed "$kilobytes KiB of memory"
    done
else
    echo "left out: a picture without memory (no program runs in 200 MB here)"
fi
finish
