#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite serve: what the Open Inference Protocol says, requests that nobody should send, slow clients, more clients than there
# is room for, and an end in the middle.
. "$(dirname "$0")/lib"
needs "$model"
if "$halite" serve "$model" --host nowhere.invalid 2>&1 | grep -q 'built without libmicrohttpd'; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

run timeout 300 python3 "$here/serve.py" "$halite" "$model" "$demo/digits_int8.tflite"
[ $code -eq 0 ] || failed "serve.py"

refuses 1 "a model of the name digits is there already" "$halite" serve "$model" "digits=$demo/digits_int8.tflite" --port 0
refuses 1 "nothing.tflite" "$halite" serve "$work/nothing.tflite"
refuses 1 "is no address" "$halite" serve "$model" --host nowhere.invalid
refuses 1 "cannot listen on 192.0.2.1, port 8000: " "$halite" serve "$model" --host 192.0.2.1
refuses 2 "--queue" "$halite" serve "$model" --queue 0
finish
