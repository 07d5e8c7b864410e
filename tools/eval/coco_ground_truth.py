#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what coco_object_detection_run_eval wants from COCO's own files.

In: the annotations (instances_val2014.json), the folder of the pictures and, for a part of them such as the minival set, a
list of picture ids, one a line. Out, in a folder: images/ with those pictures, and ground_truth.pb, the true objects as the
serialized message ObjectDetectionGroundTruth (ground_truth.json with --json).

Boxes that reach out of their picture are left out, as in TensorFlow Lite's own script. Needs nothing but Python.
"""
import argparse
import json
import os
import shutil
import struct
import sys


# ---- protocol buffers: numbers, floats, and bytes for texts and messages ----------------------------------------------------

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


# Names as in evaluation.proto, beside field numbers.
SIDES = {"normalized_top": 1, "normalized_bottom": 2, "normalized_left": 3, "normalized_right": 4}


def pack(truth):
    out = b""
    for result in truth["detection_results"]:
        message = b""
        for item in result["objects"]:
            box = b"".join(field(number, item["bounding_box"][name]) for name, number in SIDES.items())
            message += field(1, field(1, item["class_id"]) + field(2, box))
        out += field(1, message + field(2, result["image_name"].encode()) + field(3, result["image_id"]))
    return out


# ---- COCO -------------------------------------------------------------------------------------------------------------------

def read_ids(path):
    with open(path, encoding="ascii") as file:
        return {int(line) for line in file if line.strip()}


def read_truth(instances, ids, count, crowds):
    """The message as Python values, with pictures in the order of their names."""
    images = [image for image in instances["images"] if ids is None or image["id"] in ids]
    images.sort(key=lambda image: image["file_name"])
    images = images[:count] if count else images
    objects = {image["id"]: [] for image in images}
    sizes = {image["id"]: (image["width"], image["height"]) for image in images}
    outside = 0
    for note in instances["annotations"]:
        if note["image_id"] not in objects or note.get("iscrowd") and not crowds:
            continue
        width, height = sizes[note["image_id"]]
        left, top, box_width, box_height = note["bbox"]
        right, bottom = left + box_width, top + box_height
        if left > width or right > width or top > height or bottom > height:
            outside += 1
            continue
        sides = (top / height, bottom / height, left / width, right / width)
        objects[note["image_id"]].append({
            "class_id": note["category_id"],
            "bounding_box": dict(zip(SIDES, map(float, sides))),
        })
    if outside:
        print(f"{outside} boxes that reach out of their pictures are left out", file=sys.stderr)
    return {"detection_results": [
        {"objects": objects[image["id"]], "image_name": image["file_name"], "image_id": image["id"]} for image in images]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images_folder", required=True, help="folder of COCO's pictures")
    parser.add_argument("--instances_file", required=True, help="COCO's annotations, JSON")
    parser.add_argument("--allowlist_file", "--whitelist_file", help="ids of the pictures to take, one a line; default: all")
    parser.add_argument("--num_images", type=int, default=0, help="take only so many, by their names; 0: all")
    parser.add_argument("--output_folder", required=True, help="folder to make")
    parser.add_argument("--json", action="store_true", help="write ground_truth.json, for builds without protobuf-c")
    parser.add_argument("--without_crowds", action="store_true", help="leave out boxes that COCO marks as crowds")
    options = parser.parse_args()

    with open(options.instances_file, encoding="utf-8") as file:
        instances = json.load(file)
    ids = read_ids(options.allowlist_file) if options.allowlist_file else None
    truth = read_truth(instances, ids, options.num_images, not options.without_crowds)
    if not truth["detection_results"]:
        sys.exit("coco_ground_truth.py: no picture of " + options.instances_file + " is wanted")
    folder = os.path.join(options.output_folder, "images")
    os.makedirs(folder, exist_ok=True)
    for result in truth["detection_results"]:
        shutil.copy2(os.path.join(options.images_folder, result["image_name"]), folder)
    path = os.path.join(options.output_folder, "ground_truth." + ("json" if options.json else "pb"))
    with open(path, "wb") as file:
        file.write(json.dumps(truth).encode() if options.json else pack(truth))
    count = sum(len(result["objects"]) for result in truth["detection_results"])
    print(f"{len(truth['detection_results'])} pictures with {count} objects: {path}")


if __name__ == "__main__":
    main()
