# SPDX-License-Identifier: Apache-2.0
"""A build in one archive, for measuring on a machine that has neither the tree nor its packages: programs and libraries of
build/release without symbols, the shared libraries that they need, Halite's Python package, and the models that are named.

    python3 bench/travel.py build/travel.tar.xz ../shared/models/style/zero_dce_float.tflite    (here)
    mkdir halite && tar -xJf travel.tar.xz -C halite && . halite/environment              (there)
    halite bench --device cuda --per-op $MODELS/zero_dce_float.tflite

The other machine needs the same processor family and a C library at least as new. Drivers are never packed."""
import argparse
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

PROGRAMS = ["halite", "benchmark_model", "label_image", "golden_runner"]
LIBRARIES = ["libtensorflowlite_c.so", "libtensorflowlite_gpu_delegate.so", "libLiteRtGpuAccelerator.so"]
LINKED = ["bin", "lib"]  # folders of the Python package that hold no more than the archive's own
# Of the C library and what a driver brings itself: a second copy of them is a crash.
SYSTEM = re.compile(r"(ld-linux|libc|libm|libdl|libpthread|librt|libresolv)[-.]|lib(vulkan|OpenCL|EGL|GL|cuda|nvidia)")

ENVIRONMENT = """here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
export PATH=$here/bin:$PATH LD_LIBRARY_PATH=$here/lib:$LD_LIBRARY_PATH PYTHONPATH=$here/python:$PYTHONPATH MODELS=$here/models
"""


def needed(path):
    """Files of the shared libraries that a program or library needs, those of the system left out."""
    listed = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
    found = (line.split(" => ")[1].split(" (")[0] for line in listed.splitlines() if " => /" in line)
    return [file for file in found if not SYSTEM.match(os.path.basename(file))]


def take(source, folder, strip=True):
    """Copies a file, and follows links, so that each name is a file of its own."""
    os.makedirs(folder, exist_ok=True)
    copy = shutil.copy(source, folder)
    if strip:
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", help="what to write, .tar.xz")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--program", action="append", default=[], help="a further program of the build, by name")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        for folder, names in (("bin", PROGRAMS + args.program), ("lib", LIBRARIES)):
            for name in names:
                source = os.path.join(args.build, folder, name)
                take(source, os.path.join(root, folder))
                for file in needed(source):
                    take(file, os.path.join(root, "lib"))
        package = os.path.join(root, "python", "halite")
        shutil.copytree(os.path.join(args.build, "python", "halite"), package, ignore=shutil.ignore_patterns(*LINKED))
        for name in LINKED:
            os.symlink(os.path.join("..", "..", name), os.path.join(package, name))
        for model in args.models:
            take(model, os.path.join(root, "models"), strip=False)
        with open(os.path.join(root, "environment"), "w", encoding="utf-8") as file:
            file.write(ENVIRONMENT)
        os.makedirs(os.path.dirname(os.path.abspath(args.archive)), exist_ok=True)
        with tarfile.open(args.archive, "w:xz") as archive:
            archive.add(root, arcname=".")
    print(f"{args.archive}: {os.path.getsize(args.archive) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
