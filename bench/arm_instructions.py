#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of an inference on 64-bit Arm, by CPU level, counted in QEMU: what a machine of another kind can measure.

    arm_instructions.py [--peer ROOT PACKAGES] BUILD MODEL...

BUILD is a build folder of the preset aarch64. Out: for each model a row of a Markdown table, millions of instructions: those of
two inferences less those of one. A checksum says that all levels gave the same outputs; where they did not, the row says so
(floats, which fuse everywhere, agree as well).

--peer counts the official runtime (ai-edge-litert with XNNPACK, one thread) in the same way: ROOT holds Debian's python3.11 and
libraries for arm64 (packages unpacked by dpkg -x), PACKAGES the wheels of ai-edge-litert and numpy for aarch64 (pip download
--platform manylinux_2_28_aarch64, unpacked). QEMU does not pretend to have an Arm's /proc/cpuinfo, without which the runtime
crashes, so ROOT/proc/cpuinfo must be one; it is written here for the CPU that is played. SME, which QEMU has and few CPUs, is
off.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MAX = "max,sme=off"
LEVELS = [("baseline", "cortex-a57"), ("smull", "cortex-a57"), ("dotprod", "neoverse-n1"), ("i8mm", f"{MAX},sve=off"),
          ("sve256", f"{MAX},sve-max-vq=2"), ("sve512", f"{MAX},sve-max-vq=4")]
PEERS = [("NEON", "cortex-a57", "0xd07", ""), ("dotprod", "neoverse-n1", "0xd0c", " asimddp"),
         ("i8mm", f"{MAX},sve=off", "0xd49", " asimddp i8mm")]
PEER = """
import sys, numpy
from ai_edge_litert.interpreter import Interpreter
runner = Interpreter(sys.argv[1], num_threads=1)
runner.allocate_tensors()
for tensor in runner.get_input_details():
    random = numpy.random.default_rng(1).integers(0, 256, tensor["shape"])
    values = random / 128 - 1 if tensor["dtype"] == numpy.float32 else random
    runner.set_tensor(tensor["index"], values.astype(tensor["dtype"]))
for _ in range(int(sys.argv[2])):
    runner.invoke()
"""


def build(folder, target):
    """The plugin, and the program that runs a model."""
    zig = os.environ.get("HALITE_ZIG") or HERE.parent / "build/zig/bin/python-zig"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", HERE / "qemu_instructions.c", "-o", target / "count.so"], check=True)
    subprocess.run([zig, "cc", "-target", "aarch64-linux-musl", "-O2", "-I", HERE.parent / "include", HERE / "arm_run.c",
                    folder / "lib/libtensorflowlite_c.a", "-o", target / "run"], check=True)
    return target / "count.so", target / "run"


def instructions(plugin, cpu, command, runs, **environment):
    """Millions of them, and what the program printed; None where it failed."""
    done = subprocess.run(["qemu-aarch64", "-cpu", cpu, "-plugin", plugin, *command, str(runs)], capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("instructions: ")]
    if done.returncode != 0 or not lines:
        print(done.stderr, file=sys.stderr)
        return None, ""
    return int(lines[-1].split()[1]) / 1e6, done.stdout


def inference(plugin, cpu, command, **environment):
    (first, _), (both, printed) = (instructions(plugin, cpu, command, runs, **environment) for runs in (1, 2))
    return (None if first is None or both is None else both - first), printed


def peer_counts(plugin, peer, model):
    root, packages = (pathlib.Path(name).resolve() for name in peer)
    (root / "proc").mkdir(exist_ok=True)
    for _, cpu, part, features in PEERS:
        (root / "proc/cpuinfo").write_text(
            f"processor\t: 0\nFeatures\t: fp asimd{features}\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
            f"CPU variant\t: 0x0\nCPU part\t: {part}\nCPU revision\t: 1\n", encoding="ascii")
        yield inference(plugin, cpu, ["-L", root, root / "usr/bin/python3.11", "-c", PEER, model], PYTHONPATH=str(packages),
                        PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", nargs=2, metavar=("ROOT", "PACKAGES"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plugin, run = build(arguments.build, pathlib.Path(folder))
        names = [name for name, _ in LEVELS] + [f"XNNPACK {name}" for name, _, _, _ in PEERS if arguments.peer]
        print(f"| model | {' | '.join(names)} |\n|---{'|---' * len(names)}|", flush=True)
        for model in arguments.models:
            counts = [inference(plugin, cpu, [run, model], HALITE_SIMD=level) for level, cpu in LEVELS]
            sums = {printed for _, printed in counts}
            row = [count for count, _ in counts]
            if arguments.peer:
                row += peer_counts(plugin, arguments.peer, model)
            cells = ["-" if count is None else f"{count:.3g}" for count in row]
            print(f"| {pathlib.Path(model).stem}{'' if len(sums) == 1 else ' (outputs differ)'} | {' | '.join(cells)} |",
                  flush=True)


if __name__ == "__main__":
    main()
