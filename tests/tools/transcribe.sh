#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite transcribe-keywords: words with their times, in WAV files of every form and on standard input; features against the
# same worked out with numpy; damaged sounds; with ../shared, words that people said.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/transcribe_models.py" "$demo" "$work" || failed "the models"
tab=$(printf '\t')
transcribe() { "$halite" transcribe-keywords "$@"; }

# hears WORDS MODEL ARGUMENT...: start, end, class and label of each, and scores that are 0.02 from those said or less.
hears() {
    printf '%b' "$1" >"$work/wanted"
    model=$work/$2.tflite
    shift 2
    passes transcribe "$model" "$@" --format tsv
    cut -f 2- "$work/out" >"$work/heard"
    paste "$work/wanted" "$work/heard" | awk -F "$tab" '{ far = $5 - $10; if (far < 0) far = -far }
        NF != 10 || $1 != $6 || $2 != $7 || $3 != $8 || $4 != $9 || far > 0.02 { exit 1 }' &&
        [ "$(wc -l <"$work/wanted")" -eq "$(wc -l <"$work/heard")" ] || failed "$model $*"
}
both='0.000\t0.500\t0\tlow\t0.75\n0.750\t1.250\t1\thigh\t0.75\n'
hears "$both" tones "$work/sounds/melody.wav"
for sound in "$work"/formats/*.wav; do hears "$both" tones "$sound"; done
hears "$both" tones --step 0.25 "$work/sounds/melody.wav"
hears '0.000\t0.625\t0\tlow\t0.75\n0.625\t1.375\t1\thigh\t0.75\n' tones -s 0.3 "$work/sounds/melody.wav"
# The mean of two windows: 0.75, 0.75, 0.75, 0.5625, 0.1875 and so on.
hears '0.000\t0.625\t0\tlow\t0.75\n0.750\t1.375\t1\thigh\t0.75\n' tones --smooth 0.25 "$work/sounds/melody.wav"
hears '0.000\t0.500\t0\t\t0.75\n0.750\t1.250\t1\t\t0.75\n' column "$work/sounds/melody.wav"
hears '' tones "$work/silenced.wav"
hears '0.000\t0.125\t0\t\t8000\n' rate --rate 8000 --all "$work/short.wav"
hears '0.000\t0.125\t0\t\t22050\n' told_rate --all "$work/short.wav"
hears '' high -s 0.01 "$work/folded.wav"
hears '0.000\t0.500\t0\t\t0.75\n' high "$work/kept.wav"
# Shorter than a window; then less and not less than half a step behind the first window.
hears '0.000\t0.125\t0\tlow\t0.375\n' tones -s 0.3 "$work/short.wav"
hears '0.000\t0.250\t0\tlow\t0.75\n' tones "$work/rest.wav"
hears '0.000\t0.250\t0\tlow\t0.75\n0.125\t0.312\t0\tlow\t0.5625\n' tones --all "$work/longer_rest.wav"
# Every sample once, and anew with each sound.
once='0.000\t0.250\t0\t\t0.75\n0.250\t0.500\t0\t\t1.5\n0.500\t0.750\t0\t\t0.75\n'
once="${once}0.750\t1.000\t0\t\t0\n1.000\t1.250\t0\t\t0\n1.250\t1.500\t0\t\t0\n"
hears "0.000\t0.125\t0\t\t0.375\n$once$once" remembers --all "$work/short.wav" "$work/sounds"

# For people, as JSON; both classes of a window; a folder in order.
passes transcribe "$work/tones.tflite" "$work/sounds"
matches '^    *0\.00 - +0\.50 s +0\.750  low$'
matches '1\.50 s, 2 words, 11 windows of 0\.25 s, '
says "samples, 1 node on the CPU"
passes transcribe "$work/tones.tflite" "$work/sounds" --format json
"$python" -c '
import json, sys
sounds = json.load(sys.stdin)
assert [s["sound"].split("/")[-1] for s in sounds] == ["again.wav", "melody.wav"], sounds
for s in sounds:
    assert (s["seconds"], s["rate"], s["window"], s["step"], s["windows"]) == (1.5, 16000, 0.25, 0.125, 11), s
    assert [(w["start"], w["end"], w["label"]) for w in s["words"]] == [(0, 0.5, "low"), (0.75, 1.25, "high")], s
    assert all(abs(w["score"] - 0.75) < 0.001 for w in s["words"]), s
' <"$work/out" || failed "JSON"
passes transcribe "$work/tones.tflite" --all --top 2 --format tsv "$work/sounds/melody.wav"
[ "$(wc -l <"$work/out")" -eq 22 ] || failed "not two classes of eleven windows"

# Standard input: a WAV file, bare samples of a form that is told, and words while more is to come.
passes transcribe "$work/tones.tflite" - --format tsv <"$work/formats/rate_44100.wav"
says "-${tab}0.000${tab}0.500${tab}0${tab}low"
passes transcribe "$work/tones.tflite" - --format tsv <"$work/melody.raw"
says "-${tab}0.750${tab}1.250${tab}1${tab}high"
tail -c +45 "$work/formats/rate_8000.wav" >"$work/slow.raw"
passes transcribe "$work/tones.tflite" - --raw s16:8000 --format tsv <"$work/slow.raw"
says "-${tab}0.750${tab}1.250${tab}1${tab}high"
tail -c +45 "$work/formats/stereo.wav" >"$work/both.raw"
passes transcribe "$work/tones.tflite" - --raw s16:16000:2 --format tsv <"$work/both.raw"
says "-${tab}0.750${tab}1.250${tab}1${tab}high"
mkfifo "$work/pipe"
transcribe "$work/tones.tflite" - --format tsv <"$work/pipe" >"$work/stream" 2>"$work/err" &
exec 3>"$work/pipe"
head -c 36000 "$work/melody.raw" >&3 # 1.125 s
waited=0
until [ -s "$work/stream" ] || [ $waited -ge 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
checks=$((checks + 1))
[ "$(cut -f 2-5 "$work/stream")" = "0.000${tab}0.500${tab}0${tab}low" ] || failed "no word while the sound goes on"
tail -c +36001 "$work/melody.raw" >&3
exec 3>&-
wait $! || failed "the stream's end"
[ "$(cut -f 5 "$work/stream" | tr '\n' ' ')" = "low high " ] || failed "the rest of the stream"

# features MODEL BOUND FLAG...: the scores are the numbers in MODEL.expected.
features() {
    name=$1 bound=$2
    shift 2
    passes transcribe "$work/$name.tflite" "$work/voice.wav" --all --top 100 --format tsv "$@"
    awk -F "$tab" '$2 == "0.000"' "$work/out" | sort -t "$tab" -k 4n | cut -f 6 | paste "$work/$name.expected" - >"$work/both"
    awk -v bound="$bound" '{ far = $1 - $2; if (far < 0) far = -far } NF != 2 || far > bound { exit 1 }
        END { exit NR < 24 }' "$work/both" || { cp "$work/both" "$work/out"; failed "features of $name"; }
}
features mfcc 0.001 --features mfcc
features mfcc_open 0.001
features mfcc_flat 0.001 --features mfcc
features lfbe 0.0001 --features lfbe
features lfbe_int8 0.004
features micro 0.001 --features micro
features micro_flat 0.001 --features micro
features micro_int8 0.11
features micro_quick 0.001 --features micro --frame-step 0.01

# ---- what is refused -----------------------------------------------------------------------------------------------------
# declines TEXT MODEL ARGUMENT...: with exit code 1.
declines() {
    text=$1 declined=$work/$2.tflite
    shift 2
    refuses 1 "$text" "$halite" transcribe-keywords "$declined" "$@" --format tsv
}
declines "float32[1,49,257]; neither samples" spectrum "$work/short.wav"
declines "float32[1,28,28,1]; neither samples" picture "$work/short.wav"
declines "float32[1,49,40]; neither samples" micro "$work/short.wav"
declines "has 2 inputs" two "$work/short.wav"
declines "scores hold no numbers (NaN)" nan "$work/short.wav"
declines "--features rumors: micro, mfcc, lfbe, or samples are known" tones "$work/short.wav" --features rumors
declines "have other numbers a frame" spectrum "$work/short.wav" --features mfcc
declines "are made of 16000 samples a second" mfcc "$work/short.wav" --features mfcc --rate 8000
declines "--raw s17:" tones - --raw s17
declines "--raw s16:16000:1:1:" tones - --raw s16:16000:1:1
declines "has 3 channels" tones - --raw s16:16000:3 </dev/zero
declines "is empty" tones - </dev/null
declines "$work/nowhere.wav: cannot be opened" tones "$work/nowhere.wav"
declines "is a folder without sounds (.wav, .wave)" tones "$work/cwd"
declines "is no WAV file" tones "$work/tones.tflite"
bad() { declines "$work/bad/$1.wav: $2" tones "$work/bad/$1.wav"; }
bad cut "is a damaged WAV file: it ends before its last sample"
bad head "is a damaged WAV file: what its samples are is cut off"
bad no_data "is a damaged WAV file: it ends before its first sample"
bad channels "has 6 channels; one or two"
bad rate "has 2147483647 samples a second; 1000 to 384000"
bad slow "has 10 samples a second"
bad adpcm "is a WAV file of format 2 with 16 bits a sample"
bad bits "is a WAV file of format 1 with 12 bits a sample"
bad block "is a damaged WAV file: its samples take 2 bytes at once, and 3 are said"
bad short_format "is a damaged WAV file: what its samples are is cut off"
bad order "is a damaged WAV file: its samples come before what they are"
bad big_endian "is a WAV file of a kind (RIFX or RF64)"
bad huge_chunk "is a damaged WAV file: it ends before its first sample"
bad nothing "holds no sound"
bad nan "holds a sample that is no number (NaN)"
# The others go on.
run transcribe "$work/tones.tflite" "$work/bad/cut.wav" "$work/sounds/melody.wav" --format json
[ $code -eq 1 ] && [ "$(grep -c '"sound"' "$work/out")" -eq 1 ] || failed "a damaged sound among others"

# ---- words that people said, in models that people use -----------------------------------------------------------------------
audio=$shared/audio models=$shared/models
if has "$audio/yes_1000ms.wav" "words" && has "$models/audio/micro_speech_int8.tflite" "models of words"; then
    printf 'silence\nunknown\nyes\nno\n' >"$work/words.txt"
    passes transcribe "$models/audio/micro_speech_int8.tflite" -l "$work/words.txt" --all --format tsv "$audio"/*_1000ms.wav
    [ "$(cut -f 5 "$work/out" | tr '\n' ' ')" = "no silence silence yes " ] || failed "what micro_speech hears"
    for name in kws_ref_model kws_ref_model_float32; do # 9 is yes, 10 silence, 11 none of the words
        passes transcribe "$models/mlperf_tiny/$name.tflite" --all --format tsv "$audio/yes_1000ms.wav" \
            "$audio/silence_1000ms.wav" "$audio/noise_1000ms.wav"
        [ "$(cut -f 4 "$work/out" | tr '\n' ' ')" = "9 10 11 " ] || failed "what $name hears"
    done
    passes transcribe "$models/audio/yamnet_with_metadata.tflite" --format tsv --all "$audio/speech.wav" \
        "$audio/silence_1000ms.wav"
    [ "$(cut -f 5 "$work/out" | uniq | tr '\n' ' ')" = "Speech Silence " ] || failed "what YAMNet hears"
    passes transcribe "$models/audio/microwakeword_vad_v2.tflite" --format tsv "$audio/noise_1000ms.wav" "$audio/speech.wav"
    [ "$(cut -f 1 "$work/out" | uniq)" = "$audio/speech.wav" ] || failed "where somebody speaks"
    for name in micro_speech_lstm mfcc_model keyword_scrambled keyword_scrambled_8bit lyra_soundstream_encoder; do
        refuses 1 "neither samples" "$halite" transcribe-keywords "$models/audio/$name.tflite" "$audio/yes_1000ms.wav"
    done
fi
finish
