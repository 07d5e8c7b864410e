# SPDX-License-Identifier: Apache-2.0
"""coco_pycocotools.py make SEED FOLDER: writes random true boxes as COCO annotations (instances.json), detections as COCO
results (results.json) and the same as pictures that pixel_detector reads.
coco_pycocotools.py compare FOLDER: the average precisions of pycocotools against those in result.json.

All numbers are bytes, parts of 255, and pictures count as 255 by 255, so both sides see the same boxes. What floats and doubles
could see differently is not drawn: overlaps next to a threshold, and numbers of true boxes for which a recall point can lie
on a step of the curve.
"""
import json
import random
import sys

PICTURES, CLASSES, ROWS, SIDE = 40, 4, 8, 255
THRESHOLDS = [0.5 + 0.05 * i for i in range(10)]


def is_prime(number):
    return number > 5 and all(number % d for d in range(2, int(number**0.5) + 1))


def random_box():
    top, left = random.randrange(160), random.randrange(160)
    return top, left, top + random.randrange(20, 90), left + random.randrange(20, 90)


def near(box):
    return tuple(min(255, max(0, side + random.randrange(-6, 7))) for side in box)


def overlap(a, b):
    height, width = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0, height) * max(0, width)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def clear(box, kind, truth):
    """Its overlap with no true box of its class is next to a threshold, or the same as with another."""
    overlaps = [overlap(box, other) for other_kind, other in truth if other_kind == kind]
    return (all(abs(value - threshold) > 1e-4 for value in overlaps for threshold in THRESHOLDS)
            and len({round(value, 5) for value in overlaps if value > 0.4}) == sum(value > 0.4 for value in overlaps))


def draw():
    pictures = []
    for _ in range(PICTURES):
        truth = [(random.randrange(1, CLASSES + 1), random_box()) for _ in range(random.randrange(0, 7))]
        found = []
        while len(found) < random.randrange(0, ROWS + 1):
            kind, box = random.choice(truth) if truth and random.random() < 0.75 else (random.randrange(1, CLASSES + 1), None)
            box = near(box) if box else random_box()
            if box[2] > box[0] and box[3] > box[1] and clear(box, kind, truth):
                found.append((kind, box, random.randrange(1, 256)))
        pictures.append((truth, found))
    return pictures


def make(seed, folder):
    random.seed(seed)
    pictures = draw()
    while not all(is_prime(sum(kind == wanted for truth, _ in pictures for kind, _ in truth))
                  for wanted in range(1, CLASSES + 1)):
        pictures = draw()
    images, notes, results = [], [], []
    for number, (truth, found) in enumerate(pictures, 1):
        name = f"{number:06}.ppm"
        images.append({"id": number, "file_name": name, "width": SIDE, "height": SIDE})
        for kind, (top, left, bottom, right) in truth:
            notes.append({"id": len(notes) + 1, "image_id": number, "category_id": kind, "iscrowd": 0,
                          "bbox": [left, top, right - left, bottom - top], "area": (right - left) * (bottom - top)})
        pixels = bytearray()
        for kind, (top, left, bottom, right), score in found:
            results.append({"image_id": number, "category_id": kind, "score": score / 255,
                            "bbox": [left, top, right - left, bottom - top]})
            pixels += bytes([top, left, bottom, right, kind - 1, score, len(found), 0, 0])
        with open(f"{folder}/{name}", "wb") as file:
            file.write(b"P6\n3 %d\n255\n" % ROWS + pixels.ljust(9 * ROWS, b"\0"))
    categories = [{"id": kind, "name": f"class {kind}"} for kind in range(1, CLASSES + 1)]
    with open(f"{folder}/instances.json", "w", encoding="ascii") as file:
        json.dump({"images": images, "annotations": notes, "categories": categories, "info": {}}, file)
    with open(f"{folder}/results.json", "w", encoding="ascii") as file:
        json.dump(results, file)


def compare(folder):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth = COCO(f"{folder}/instances.json")
    judge = COCOeval(truth, truth.loadRes(f"{folder}/results.json"), "bbox")
    judge.evaluate()
    judge.accumulate()
    expected = judge.eval["precision"][:, :, :, 0, 2].mean(axis=(1, 2))  # all areas, 100 detections
    with open(f"{folder}/result.json", encoding="ascii") as file:
        metrics = json.load(file)["process_metrics"]["object_detection_metrics"]["average_precision_metrics"]
    got = [item["average_precision"] for item in metrics["individual_average_precisions"]]
    worst = max(abs(a - b) for a, b in zip(got + [metrics["overall_mean_average_precision"]],
                                           list(expected) + [expected.mean()]))
    print(f"mAP {expected.mean():.6f}, at 0.5 {expected[0]:.6f}; largest difference {worst:.2g}")
    if len(got) != len(expected) or worst > 1e-5 or not 0.1 < expected.mean() < 0.9:
        sys.exit(1)


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    compare(sys.argv[2])
