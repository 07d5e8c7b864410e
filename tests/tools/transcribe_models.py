# SPDX-License-Identifier: Apache-2.0
"""transcribe_models.py DEMO FOLDER: writes models that hear tones, or hand out features as scores, and sounds for them. The
features are worked out here a second time, with numpy, into NAME.expected: a number a line."""

import pathlib
import struct
import sys
import zipfile

import numpy as np

sys.path.insert(0, sys.argv[1])
from tflite_writer import Model, Scalar, Table  # noqa: E402

folder = pathlib.Path(sys.argv[2])
RATE, WINDOW = 16000, 4000
FULLY_CONNECTED, SVDF, CAST = 9, 27, 53


def write(name, model, inputs, output, labels="", metadata=None):
    path = folder / f"{name}.tflite"
    path.write_bytes(model.write(inputs, {"scores": output}, metadata))
    if labels:
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("labels.txt", labels)


def sine(frequency, count=WINDOW, rate=RATE):
    return np.sin(2 * np.pi * frequency * np.arange(count) / rate)


def linear(name, shape, weights, dtype="float32", scale=None, zero=0, labels="", rate_input=False, signature=None):
    """The scores are the weights times the input; an 8-bit one gives 8-bit scores of steps of the same size."""
    model = Model(name)
    sound = model.tensor("sound", dtype, shape, scale=scale, zero=zero, shape_signature=signature)
    inputs = {"sound": sound}
    if rate_input:
        inputs["rate"] = model.tensor("rate", "int32", (1,))
    if scale is None:
        matrix = model.tensor("weights", "float32", weights.shape, weights)
        scores = model.tensor("scores", "float32", (1, len(weights)))
    else:
        matrix = model.tensor("weights", dtype, weights.shape, weights, scale=1)
        scores = model.tensor("scores", dtype, (1, len(weights)), scale=scale, zero=zero)
    model.op(FULLY_CONNECTED, 4 if scale else 1, [sound, matrix, -1], [scores], 8, Table(_0=Scalar("b", 0)))
    write(name, model, inputs, scores, labels)


# ---- tones ---------------------------------------------------------------------------------------------------------
# Each score is the amplitude of one tone. Frequencies are multiples of 8 Hz, so that all windows hear the same phase.
TONES = (440, 880)
tones = np.array([2 / WINDOW * sine(f) for f in TONES], np.float32)
linear("tones", (1, WINDOW), tones, labels="low\nhigh\n")
linear("column", (WINDOW, 1), tones, rate_input=True)
linear("nan", (1, WINDOW), np.full((2, WINDOW), np.nan, np.float32))
linear("picture", (1, 28, 28, 1), np.zeros((2, 784), np.float32))
linear("spectrum", (1, 49, 257), np.zeros((2, 49 * 257), np.float32))
model = Model("two")
both = [model.tensor(name, "float32", (1, WINDOW)) for name in ("a", "b")]
added = model.tensor("sum", "float32", (1, WINDOW))
model.op(0, 1, both, [added], 11, Table(_0=Scalar("b", 0)))
write("two", model, dict(zip("ab", both)), added)

# A model whose score is the rate that it is told.
model = Model("rate")
sound, rate = model.tensor("sound", "float32", (1, WINDOW)), model.tensor("rate", "int32", (1,))
score = model.tensor("score", "float32", (1,))
model.op(CAST, 1, [rate], [score])
write("rate", model, {"sound": sound, "rate": rate}, score)
audio = Table(_0=Scalar("I", 22050), _1=Scalar("I", 1))
tensor = Table(_0="sound", _3=Table(_0=Scalar("B", 4), _1=audio))
write("told_rate", model, {"sound": sound, "rate": rate}, score, metadata=Table(_3=[Table(_2=[tensor])]))

# A model that remembers: its score is the amplitude in this window and in the one before.
model = Model("remembers")
sound = model.tensor("sound", "float32", (1, WINDOW))
feature = model.tensor("feature", "float32", (1, WINDOW), tones[:1])
time = model.tensor("time", "float32", (1, 2), np.ones((1, 2)))
state = model.tensor("state", "float32", (1, 2))
model.tensors[state].fields[5] = Scalar("b", 1)  # a variable
score = model.tensor("score", "float32", (1, 1))
model.op(SVDF, 1, [sound, feature, time, -1, state], [score], 6, Table(_0=Scalar("i", 1), _1=Scalar("b", 0)))
write("remembers", model, {"sound": sound}, score)


def wav(name, samples, code="<i2", bits=16, tag=1, rate=RATE, channels=1, extensible=False, before=b"", size=None):
    """Samples from -1 to 1, one row for each channel."""
    samples = np.broadcast_to(samples, (channels, np.shape(samples)[-1])).T
    if bits == 24:
        whole = np.round(samples * 2**23).astype("<i4")
        content = whole[..., None].view("<u1").reshape(-1, 4)[:, :3].tobytes()
    elif tag == 3:
        content = samples.astype(code).tobytes()
    else:
        content = np.round(samples * 2 ** (bits - 1) + (128 if bits == 8 else 0)).astype(code).tobytes()
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xfffe if extensible else tag, channels, rate, rate * block, block, bits)
    if extensible:
        form += struct.pack("<HHI", 22, bits, 0) + struct.pack("<H", tag) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVE" + before + b"fmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(content) if size is None else size) + content
    (folder / f"{name}.wav").write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    return content


def melody(rate=RATE):
    """1.5 s: the low tone in the first half second, the high one from 0.75 to 1.25, each with an amplitude of 0.75."""
    second = np.arange(3 * rate // 2) / rate
    low = 0.75 * np.sin(2 * np.pi * TONES[0] * second) * (second < 0.5)
    return low + 0.75 * np.sin(2 * np.pi * TONES[1] * second) * ((second >= 0.75) & (second < 1.25))


(folder / "sounds").mkdir()
(folder / "formats").mkdir()
(folder / "melody.raw").write_bytes(wav("sounds/melody", melody()))
wav("sounds/again", melody())
wav("formats/u8", melody(), "<u1", 8)
wav("formats/s24", melody(), bits=24)
wav("formats/s32", melody() * (1 - 2**-31), "<i4", 32)
wav("formats/f32", melody(), "<f4", 32, tag=3)
wav("formats/f64", melody(), "<f8", 64, tag=3)
wav("formats/stereo", melody(), channels=2)
wav("formats/extensible", melody(), bits=24, extensible=True)
wav("formats/chunks", melody(), before=b"LIST" + struct.pack("<I", 5) + b"hello\0")
wav("formats/to_the_end", melody(), size=0xffffffff)
for rate in (8000, 11025, 16001, 22050, 44100, 48000, 96000):
    wav(f"formats/rate_{rate}", melody(rate), rate=rate)
wav("silenced", np.stack([melody(), -melody()]), channels=2)
# 10 kHz at 48 kHz would be 6 kHz of the other sign at 16 kHz, did nobody take it away; 6 kHz stays.
linear("high", (1, WINDOW), np.array([2 / WINDOW * sine(6000)], np.float32))
wav("folded", -0.75 * np.sin(2 * np.pi * 10000 * np.arange(24000) / 48000), rate=48000)
wav("kept", 0.75 * np.sin(2 * np.pi * 6000 * np.arange(24000) / 48000), rate=48000)
# A tone in the first quarter of a second, alone and behind the end of one that is too short for half a step.
wav("short", 0.75 * sine(TONES[0], 2000))
wav("rest", 0.75 * sine(TONES[0], 4999))
wav("longer_rest", 0.75 * sine(TONES[0], 5000))

# ---- damaged sounds ------------------------------------------------------------------------------------------------
(folder / "bad").mkdir()
whole = (folder / "sounds/melody.wav").read_bytes()


def patched(name, at, more):
    (folder / "bad" / f"{name}.wav").write_bytes(whole[:at] + more + whole[at + len(more):])


(folder / "bad/cut.wav").write_bytes(whole[:1000])
(folder / "bad/head.wav").write_bytes(whole[:30])
(folder / "bad/no_data.wav").write_bytes(whole[:36])
patched("channels", 22, struct.pack("<H", 6))
patched("rate", 24, struct.pack("<I", 0xffffffff))
patched("slow", 24, struct.pack("<I", 10))
patched("adpcm", 20, struct.pack("<H", 2))
patched("bits", 34, struct.pack("<H", 12))
patched("block", 32, struct.pack("<H", 3))
patched("short_format", 16, struct.pack("<I", 8))
patched("order", 12, b"data")
patched("big_endian", 0, b"RIFX")
patched("huge_chunk", 12, b"LIST\xff\xff\xff\xff")
patched("nothing", 40, struct.pack("<I", 0))
wav("bad/nan", np.where(np.arange(8000) == 4000, np.nan, 0.1), "<f4", 32, tag=3)

# ---- features ------------------------------------------------------------------------------------------------------
# A sound with something in each band: tones that come and go, and noise that gets louder.
random = np.random.default_rng(5)
moment = np.arange(RATE) / RATE
voice = 0.2 * np.sin(2 * np.pi * (300 + 900 * moment) * moment) * (moment > 0.25) + 0.1 * np.sin(2 * np.pi * 3100 * moment)
voice = np.round((voice + 0.02 * moment * random.standard_normal(RATE)) * 32768) / 32768
wav("voice", voice)


def mel(frequency):
    return 2595 * np.log10(1 + frequency / 700)


def triangles(bands, length, low, high):
    """[length / 2 + 1, bands], as tf.signal.linear_to_mel_weight_matrix documents them."""
    edges = np.linspace(mel(low), mel(high), bands + 2)
    at = mel(np.linspace(0, RATE / 2, length // 2 + 1))[:, None]
    rising = (at - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - at) / (edges[2:] - edges[1:-1])
    filters = np.maximum(0, np.minimum(rising, falling))
    filters[0] = 0
    return filters


def spectra(samples, frame, step, length, taper):
    starts = range(0, len(samples) - frame + 1, step)
    return np.array([np.fft.rfft(samples[i:i + frame] * taper, length) for i in starts])


def mfcc(samples):
    taper = np.hanning(481)[:480]
    magnitudes = np.abs(spectra(samples / samples.max(), 480, 320, 512, taper))
    logarithms = np.log(magnitudes @ triangles(40, 512, 20, 4000) + 1e-6)
    cosines = np.cos(np.pi / 40 * np.outer(np.arange(40) + 0.5, np.arange(10)))
    return logarithms @ cosines * np.sqrt(2 / 40)


def lfbe(samples):
    emphasized = samples - (1 - 2**-5) * np.concatenate([[0], samples[:-1]])
    power = np.abs(spectra(emphasized, 1024, 512, 1024, np.hamming(1024))) ** 2 / 1024
    return np.clip((10 * np.log10(power @ triangles(40, 1024, 0, 8000)) + 52) / 64, 0, 1)


def micro(samples, step):
    taper = np.hanning(961)[1::2]
    energies = np.abs(spectra(samples * 32768, 480, step, 512, taper)) ** 2 @ triangles(40, 512, 125, 7500)
    smoothing = np.where(np.arange(40) % 2 == 0, 0.025, 0.06)
    noise, rows = np.zeros(40), []
    for signal in np.sqrt(energies) // 8:
        noise = noise + smoothing * (signal - noise)
        clean = np.maximum(signal - noise, signal / 20) // 1
        ratio = 8 * clean / (8 * noise + 80) ** 0.95
        gained = 64 * np.where(ratio < 2, ratio**2 / 4, ratio - 1) // 1
        rows.append(np.where(gained > 0, np.round(64 * np.log(np.maximum(1, 8 * gained))), 0) / 25.6)
    return np.array(rows)


def hand_out(name, made, shape, picks=24, **how):
    """A model whose scores are some of the features, spread over all of them."""
    places = np.linspace(0, made.size - 1, picks).astype(int) if picks else np.arange(made.size)
    weights = np.zeros((len(places), made.size), np.float32)
    weights[np.arange(len(places)), places] = 1
    linear(name, shape, weights, **how)
    values = made.ravel()[places]
    (folder / f"{name}.expected").write_text("".join(f"{value:.7g}\n" for value in values))


cepstra, decibels, front = mfcc(voice)[:49], lfbe(voice)[:30], micro(voice, 320)[:49]
hand_out("mfcc", cepstra, (1, 49, 10, 1))
hand_out("mfcc_open", cepstra, (1, 49, 10, 1), signature=(-1, 49, 10, 1))
hand_out("mfcc_flat", cepstra, (1, 490))
hand_out("lfbe", decibels, (1, 30, 1, 40))
hand_out("micro", front, (1, 49, 40), 98)
hand_out("micro_flat", front, (1, 1960), 98)
hand_out("micro_int8", front, (1, 1960), 98, dtype="int8", scale=26 / 255, zero=-128)
hand_out("lfbe_int8", decibels, (1, 30, 1, 40), dtype="int8", scale=1 / 255, zero=-128)
hand_out("micro_quick", micro(voice, 160)[:49], (1, 49, 40), 98)
