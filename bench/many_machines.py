# SPDX-License-Identifier: Apache-2.0
"""many_machines.py [NAME=VALUE...]: how a bulk job of docs/many_machines.md grows with machines, and what breaks first.

In: the figures below, any of which may be given. Out: a table with the time, the share of work that is no overhead, and
what held it up. The simulation knows four things: a driver that hands out one part at a time, a storage whose bandwidth all
share, parts of unequal length, and machines that die and take the part under way with them."""

import heapq
import random
import sys

SETTING = {
    "pictures": 50e6,
    "rate": 12.0,  # pictures a second of one worker: MobileNet v1 1.0 224 int8 with decoding, docs/many_machines.md
    "workers": 16,  # on a machine
    "rows": 512,  # pictures of a part
    "spread": 0.15,  # deviation of a part's time, as a part of it
    "dispatch": 0.002,  # seconds of the driver for each part
    "start": 20.0,  # seconds until a machine takes its first part
    "bytes": 110e3,  # of a picture
    "storage": 20e9,  # bytes a second, of all machines together
    "life": 30 * 86400.0,  # seconds until a machine dies, on the average
    "seed": 1.0,
}


def simulate(machines, s):
    """Seconds of a job, and seconds of driver, of storage, and of work done twice."""
    chance = random.Random(s["seed"] + machines)
    workers = int(machines * s["workers"])
    waiting = int(-(-s["pictures"] // s["rows"]))
    # Beyond the storage's bandwidth every part waits its share.
    fed = min(1.0, s["storage"] / (workers * s["rate"] * s["bytes"]))
    mean = s["rows"] / s["rate"] / fed
    dies = [chance.expovariate(1 / s["life"]) for _ in range(machines)]
    events = [(s["start"] + chance.random(), worker) for worker in range(workers)]
    heapq.heapify(events)
    driver = end = lost = 0.0
    while events and waiting:
        now, worker = heapq.heappop(events)
        driver = max(driver, now) + s["dispatch"]
        seconds = max(0.2 * mean, chance.gauss(mean, s["spread"] * mean))
        machine = worker % machines
        if driver + seconds > dies[machine]:  # another machine takes its place, and its part begins again
            lost += max(0.0, dies[machine] - driver)
            again = max(driver, dies[machine]) + s["start"]
            if worker < machines:
                dies[machine] = again + chance.expovariate(1 / s["life"])
            heapq.heappush(events, (again, worker))
            continue
        waiting -= 1
        end = max(end, driver + seconds)
        heapq.heappush(events, (driver + seconds, worker))
    return end, fed, lost


def main():
    setting = dict(SETTING)
    for argument in sys.argv[1:]:
        name, value = argument.split("=")
        if name not in setting:
            raise SystemExit(f"no figure '{name}'; there are {', '.join(setting)}")
        setting[name] = float(value)
    print("machines  workers       time  useful  storage   driver  lost to deaths  held up by")
    for machines in (1, 10, 100, 300, 1000, 3000):
        scale = min(1.0, machines / 100)  # few machines: a part of the pictures is as good, and done sooner
        job = {**setting, "pictures": setting["pictures"] * scale}
        seconds, fed, lost = simulate(machines, job)
        workers = machines * setting["workers"]
        useful = job["pictures"] / setting["rate"] / (seconds * workers)
        driver = job["pictures"] / setting["rows"] * setting["dispatch"] / seconds
        reasons = {"storage": 1 - fed, "driver": driver if driver > 0.9 else 0, "start and last parts": 0.1}
        reason = "nothing" if useful > 0.9 else max(reasons, key=reasons.get)
        print(f"{machines:8} {workers:8.0f} {seconds / scale / 3600:8.2f} h {100 * useful:6.0f}% {100 * fed:7.0f}% "
              f"{100 * driver:7.1f}% {100 * lost / (seconds * workers):14.3f}%  {reason}")  # fmt: skip


main()
