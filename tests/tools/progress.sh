#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How far long work is: shown on a terminal, by all commands that take long; nothing of it in pipes and files.
. "$(dirname "$0")/lib"
command -v python3 >/dev/null || { echo "skipped: no python3 to make a terminal with"; exit 77; }
cat >"$work/terminal.py" <<'END'
# terminal.py COLUMNS COMMAND...: runs it with standard error on a terminal of so many columns, whose text is printed.
# This side keeps the terminal open and ends its text itself: a kernel may drop what a closed terminal still held.
import fcntl, os, pty, struct, subprocess, sys, termios, threading
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stderr=theirs, stdout=open(os.devnull, "w"))
threading.Thread(target=lambda: (child.wait(), os.write(theirs, b"\0"))).start()
text = b""
while not text.endswith(b"\0"):
    text += os.read(ours, 65536)
print(text[:-1].decode().replace("\r", "\n").replace("\033[K", "<"))
sys.exit(child.wait())
END

# shows WORD COMMAND...: the bar begins with WORD on a terminal, is taken away at the end, and is nothing in a pipe.
shows() {
    word=$1
    shift
    passes python3 "$work/terminal.py" 100 "$@"
    matches "^$word: "
    [ "$(tail -n 1 "$work/out")" = "<" ] || failed "$*: the bar stays"
    run "$@"
    [ $code -eq 0 ] && [ ! -s "$work/err" ] && ! grep -q "^$word: " "$work/out" || failed "$*: a bar in a pipe"
}
shows timing "$halite" bench "$model"
matches "median"
shows "timing operators" "$halite" bench "$model" --per-op
shows running "$halite" run "$model" --repeat 20
shows reference "$halite" diff "$model" --to fast
shows timing "$halite" report "$model" -o "$work/page.html"
shows "models read" "$halite" inspect --ops "$model"
if [ -e "$bin/../lib/libtensorflowlite_gpu_delegate.so" ]; then
    # Without any device it times the CPU alone.
    for api in OPENCL VULKAN GLES; do export "HALITE_${api}_LIBRARY=/nowhere"; done
    shows CPU "$halite" compat "$model" --measure
fi
rm -f ./*

# No line is longer than the terminal is wide, which would leave a part of it behind.
passes python3 "$work/terminal.py" 30 "$halite" bench "$model"
! grep -E '^.{31,}' "$work/out" || failed "a line above 30 columns"
# A message takes the bar's line.
run python3 "$work/terminal.py" 100 "$halite" diff "$model" --to vulkan:99
matches '^<halite diff: '
finish
