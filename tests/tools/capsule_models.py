# SPDX-License-Identifier: Apache-2.0
"""Capsules and models for capsule.sh, which names a function and its arguments; without one, DEMO FOLDER: the models."""

import hashlib
import io
import json
import pathlib
import sys
import zipfile

import numpy as np


def models(demo, folder):
    sys.path.insert(0, demo)
    from tflite_writer import Model, Scalar, Table
    folder = pathlib.Path(folder)
    Model.TYPES.update({"object": 5})
    model = Model("strings")
    words = model.tensor("words", "object", (1,))
    made = model.tensor("made", "object", (1,))
    shape = model.tensor("shape", "int32", (1,), [1])
    model.op(22, 1, [words, shape], [made], 17, Table())  # RESHAPE
    (folder / "strings.tflite").write_bytes(model.write({"words": words}, {"made": made}))
    model = Model("open")
    numbers = model.tensor("numbers", "float32", (1,), shape_signature=(-1,))
    made = model.tensor("made", "float32", (1,), shape_signature=(-1,))
    model.op(0, 1, [numbers, numbers], [made], 11, Table(_0=Scalar("b", 0)))  # ADD
    (folder / "open.tflite").write_bytes(model.write({"numbers": numbers}, {"made": made}))
    model = Model("index")
    index = model.tensor("index", "int32", (1,))
    table = model.tensor("table", "float32", (3,), [1, 2, 3])
    made = model.tensor("made", "float32", (1,))
    model.op(36, 1, [table, index], [made], 23, Table())  # GATHER
    (folder / "index.tflite").write_bytes(model.write({"index": index}, {"made": made}))
    np.save(folder / "outside.npy", np.array([7], np.int32))


def read(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


def write(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def array(files, name):
    return np.load(io.BytesIO(files[name]))


def stored(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def edited(files, edit):
    manifest = json.loads(files["capsule.json"])
    edit(manifest)
    return {**files, "capsule.json": json.dumps(manifest)}


def check(path, model, scores, dump):
    """Other programs read it, and find what halite run writes."""
    with zipfile.ZipFile(path) as archive:
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
    files = read(path)
    manifest = json.loads(files["capsule.json"])
    assert files["model.tflite"] == pathlib.Path(model).read_bytes()
    assert manifest["model"]["sha256"] == hashlib.sha256(files["model.tflite"]).hexdigest()
    assert manifest["model"]["bytes"] == len(files["model.tflite"]) and manifest["capsule"] == 1
    assert [entry["name"] for entry in manifest["inputs"]] == ["image"]
    assert np.array_equal(array(files, manifest["outputs"][0]["file"]), np.load(scores))
    index = json.loads((pathlib.Path(dump) / "index.json").read_text())
    assert len(index) == len(manifest["nodes"]) == 7
    for there, here in zip(index, manifest["nodes"]):
        assert [there[key] for key in ("node", "tensor", "shape")] == [here[key] for key in ("node", "tensor", "shape")]
        assert np.array_equal(np.load(pathlib.Path(dump) / there["file"]), array(files, here["file"]))


def change(path, to):
    """The first score is 0.25 more, and one element that node 2 makes 3 more than the largest."""
    files = read(path)
    scores, made = array(files, "outputs/0.npy"), array(files, "nodes/2.npy")
    scores[0, 0] += 0.25
    made.flat[0] = made.max() + 3
    write(to, {**files, "outputs/0.npy": stored(scores), "nodes/2.npy": stored(made)})


def heal(path, to):
    write(to, edited(read(path), lambda manifest: manifest.pop("failure")))


def damage(path, folder):
    files, folder = read(path), pathlib.Path(folder)
    whole = pathlib.Path(path).read_bytes()

    def edit(name, how):
        write(folder / f"{name}.capsule", edited(files, how))

    edit("version", lambda manifest: manifest.update(capsule=2))
    write(folder / "json.capsule", {**files, "capsule.json": files["capsule.json"][:-20]})
    write(folder / "model.capsule", {**files, "model.tflite": files["model.tflite"][:-1] + b"x"})
    at = whole.index(files["outputs/0.npy"]) + 140
    (folder / "checksum.capsule").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    write(folder / "lost.capsule", {name: content for name, content in files.items() if name != "outputs/0.npy"})
    edit("shape", lambda manifest: manifest["inputs"][0].update(shape=[1, 2**31 - 1, 2**31 - 1, 2**31 - 1]))
    edit("type", lambda manifest: manifest["inputs"][0].update(type="int32"))
    edit("many", lambda manifest: manifest.update(inputs=1000 * manifest["inputs"]))
    edit("inputs", lambda manifest: manifest.update(inputs=2 * manifest["inputs"]))
    edit("outputs", lambda manifest: manifest.update(outputs=2 * manifest["outputs"]))
    edit("nodes", lambda manifest: manifest["nodes"][3].update(tensor=1))
    edit("delegate", lambda manifest: manifest["options"].update(delegate="./evil.so"))
    edit("operators", lambda manifest: manifest["options"].update({"custom-ops": "./evil.so"}))


if __name__ == "__main__":
    known = {"check": check, "change": change, "heal": heal, "damage": damage}
    known.get(sys.argv[1], lambda *arguments: models(*sys.argv[1:]))(*sys.argv[2:])
