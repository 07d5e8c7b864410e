# SPDX-License-Identifier: Apache-2.0
"""How good the demo's nets are, on pictures that no training drew, through the halite command; and the demo's pictures.

    measure.py HALITE [--digits N] [--scenes N]    measures; exit code 1 where a net is worse than it is said to be
    measure.py --pictures                          writes pictures/ anew

Handwriting: strokes of strokes.py, light on dark and dark on light; and, where scikit-learn is, its digits of 8 x 8
pixels, which other people wrote, enlarged. Objects: what is right of what was found, and what was found of what is
there, with an overlap (intersection over union) of 0.5 and the right class. Noise: the mean of the distances in
decibels (PSNR) before and after.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import scenes
import strokes
from png import png

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20260  # of no training
SIGMA = 0.1   # of the noise
PARTS = {"": "float32", "_int8": "int8"}
LEAST = {"digits": 95, "hands": 90, "right": 85, "found": 85, "decibels": 6}


def halite(*arguments):
    return subprocess.run([str(a) for a in arguments], check=True, capture_output=True, text=True).stdout


def write(path, picture):
    path.write_bytes(png(np.round(np.clip(picture, 0, 1) * 255).astype(np.uint8)))


def noisy(random, picture):
    return picture + random.normal(0, SIGMA, picture.shape)


# ---- measures -------------------------------------------------------------------------------------------------------

def digits(command, folder, pictures, classes):
    """Parts of a hundred that each model names right."""
    for i, picture in enumerate(pictures):
        (folder / f"{i:05}.png").write_bytes(png(np.round(picture).astype(np.uint8)))
    for part, name in PARTS.items():
        lines = halite(command, "label", HERE / f"handwriting{part}.tflite", "--format", "tsv", "--top", 1, folder).splitlines()
        named = {int(pathlib.Path(line.split("\t")[0]).stem): int(line.split("\t")[2]) for line in lines}
        yield name, float(100 * np.mean([named[i] == kind for i, kind in enumerate(classes)]))


def strokes_unseen(count):
    pictures, classes = strokes.digits(np.random.RandomState(SEED), count)
    return pictures[..., 0], classes


def hands(count):
    """Digits of people, light on dark, 8 x 8 pixels made 20 x 20 in the middle of the picture. None without scikit-learn."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        return None
    data = load_digits()
    at = np.clip((np.arange(20) + 0.5) * 8 / 20 - 0.5, 0, 7)
    between = np.maximum(1 - np.abs(at[:, None] - np.arange(8)), 0)
    made = np.zeros((count, strokes.SIDE, strokes.SIDE))
    made[:, 4:24, 4:24] = between @ (data.images[:count] * 255 / 16) @ between.T
    return made, data.target[:count]


def overlap(a, b):
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0) * max(high, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def objects(command, folder, count):
    random, wanted = np.random.RandomState(SEED), []
    for i in range(count):
        picture, there = scenes.scene(random, 256, 256)
        write(folder / f"{i:05}.png", picture)
        wanted.append(there)
    for part, name in PARTS.items():
        found = json.loads(halite(command, "detect", HERE / f"objects{part}.tflite", "--format", "json", folder))
        right = boxes = 0
        for picture in found:
            left = list(wanted[int(pathlib.Path(picture["picture"]).stem)])
            boxes += len(picture["boxes"])
            for box in picture["boxes"]:
                place = [box["left"], box["top"], box["right"], box["bottom"]]
                met = [one for one in left if one[0] == box["class"] and overlap(one[1:], place) >= 0.5]
                right += bool(met)
                if met:
                    left.remove(met[0])
        yield name, 100 * right / max(boxes, 1), 100 * right / sum(map(len, wanted))


def noise(command, folder, count):
    random, clean, rough = np.random.RandomState(SEED), folder / "clean.png", folder / "noisy.png"
    distances = {part: [] for part in PARTS}
    for _ in range(count):
        picture = scenes.scene(random, 160, 120, noise=False)[0]
        write(clean, picture)
        write(rough, noisy(random, picture))
        for part in PARTS:
            line = halite(command, "transform", HERE / f"denoise{part}.tflite", "--format", "tsv", "--reference", clean, rough)
            distances[part].append([float(word) for word in line.split("\t")[3:]])
    for part, name in PARTS.items():
        yield (name, *np.mean(distances[part], axis=0).tolist())


def measure(command, digit_count, scene_count):
    worse = []
    with tempfile.TemporaryDirectory() as folder:
        folders = [pathlib.Path(folder, name) for name in ("digits", "objects", "noise", "hands")]
        for each in folders:
            each.mkdir()
        sets = [("digits", "unseen digits", folders[0], strokes_unseen(digit_count)),
                ("hands", "digits of people", folders[3], hands(min(digit_count, 1797)))]
        for kind, words, place, (pictures, classes) in [one for one in sets if one[3]]:
            for name, right in digits(command, place, pictures, classes):
                print(f"handwriting, {name}: {right:.1f} % of {len(pictures)} {words} right")
                worse += ["handwriting"] * (right < LEAST[kind])
        for name, right, found in objects(command, folders[1], scene_count):
            print(f"objects, {name}: {right:.0f} % of the boxes right, {found:.0f} % of the objects found, "
                  f"{scene_count} unseen scenes")
            worse += ["objects"] * (right < LEAST["right"] or found < LEAST["found"])
        for name, before, after in noise(command, folders[2], max(scene_count // 10, 1)):
            print(f"noise, {name}: {before:.1f} dB before, {after:.1f} dB after")
            worse += ["noise"] * (after < before + LEAST["decibels"])
    return worse


# ---- pictures -------------------------------------------------------------------------------------------------------

def pictures():
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    random = np.random.RandomState(SEED + 1)
    for seed in range(1000):  # the first with one of each kind at least
        picture, there = scenes.scene(np.random.RandomState(SEED + 2 + seed), 480, 480, most=14, noise=False)
        if len({kind for kind, *_ in there}) == len(scenes.CLASSES):
            break
    write(folder / "scene.png", picture)
    clean = scenes.scene(np.random.RandomState(SEED + 7), 200, 150, noise=False)[0]
    write(folder / "clean.png", clean)
    write(folder / "noisy.png", noisy(random, clean))
    for kind in range(10):
        write(folder / f"{kind}.png", strokes.digit(random, kind))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measures the demo's nets, or writes its pictures.")
    parser.add_argument("halite", nargs="?", help="the command, as build/release/bin/halite")
    parser.add_argument("--digits", type=int, default=2000, help="default 2000")
    parser.add_argument("--scenes", type=int, default=300, help="default 300; a tenth of it with noise")
    parser.add_argument("--pictures", action="store_true", help="write pictures/ instead")
    asked = parser.parse_args()
    if asked.pictures:
        pictures()
    elif not asked.halite:
        parser.error("where is the halite command?")
    else:
        bad = measure(asked.halite, asked.digits, asked.scenes)
        sys.exit(f"measure.py: worse than it should be: {', '.join(sorted(set(bad)))}" if bad else 0)
