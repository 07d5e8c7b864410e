# SPDX-License-Identifier: Apache-2.0
"""Scenes for the demo's detector, drawn from nothing: a landscape with houses, trees, cars, boats, the sun and clouds.

In: a random state, a size. Out: a picture of floats from 0 to 1, [height, width, 3], and its objects: class, left, top, right,
bottom in pixels. Everything is discs and polygons with smooth edges, so that a scene looks the same at every size.
"""
import numpy as np

CLASSES = ["house", "tree", "car", "boat", "sun", "cloud"]
HOUSE, TREE, CAR, BOAT, SUN, CLOUD = range(6)


class Canvas:
    def __init__(self, width, height):
        self.pixels = np.zeros((height, width, 3), np.float32)
        self.box = None  # of what was drawn since it was emptied

    def blend(self, left, top, right, bottom, distance, color):
        """distance(x, y): how far inside a shape, in pixels."""
        height, width, _ = self.pixels.shape
        x0, y0 = max(int(left) - 1, 0), max(int(top) - 1, 0)
        x1, y1 = min(int(right) + 2, width), min(int(bottom) + 2, height)
        if x0 >= x1 or y0 >= y1:
            return
        y, x = np.mgrid[y0:y1, x0:x1].astype(np.float32) + 0.5
        cover = np.clip(distance(x, y) + 0.5, 0, 1)[..., None]
        part = self.pixels[y0:y1, x0:x1]
        part += cover * (np.asarray(color, np.float32) - part)
        if self.box is not None:
            self.box = [min(self.box[0], left), min(self.box[1], top), max(self.box[2], right), max(self.box[3], bottom)]

    def disc(self, x, y, radius, color):
        self.blend(x - radius, y - radius, x + radius, y + radius,
                   lambda px, py: radius - np.hypot(px - x, py - y), color)

    def polygon(self, points, color):
        """A convex one, clockwise on the screen."""
        points = np.asarray(points, np.float32)

        def inside(px, py):
            depth = np.full(px.shape, np.inf, np.float32)
            for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0)):
                length = max(np.hypot(bx - ax, by - ay), 1e-6)
                depth = np.minimum(depth, ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / length)
            return depth

        self.blend(*points.min(axis=0), *points.max(axis=0), inside, color)

    def rectangle(self, left, top, right, bottom, color):
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], color)


def shade(color, factor):
    return np.clip(np.asarray(color) * factor, 0, 1)


def house(canvas, random, x, y, size):
    """x: the middle, y: the ground."""
    wide, high = size * random.uniform(0.8, 1.2), size * random.uniform(0.5, 0.75)
    wall, roof = random.uniform(0.6, 1, 3), random.uniform(0.2, 0.75, 3) * [1, 0.6, 0.5]
    left, right = x - wide / 2, x + wide / 2
    over, top = wide * 0.08, size * random.uniform(0.35, 0.55)
    if random.rand() < 0.6:
        at = x + wide * random.uniform(0.15, 0.3)
        canvas.rectangle(at, y - high - top * 0.9, at + wide * 0.1, y - high, shade(roof, 0.7))
    canvas.polygon([(x, y - high - top), (right + over, y - high), (left - over, y - high)], roof)
    canvas.rectangle(left, y - high, right, y, wall)
    dark, glass = random.uniform(0.15, 0.5, 3), random.uniform(0.5, 0.95, 3) * [0.7, 0.9, 1]
    door = random.choice([-0.28, 0, 0.28])
    canvas.rectangle(x + (door - 0.1) * wide, y - high * 0.6, x + (door + 0.1) * wide, y, dark)
    for at in {-0.28, 0, 0.28} - {door}:
        canvas.rectangle(x + (at - 0.1) * wide, y - high * 0.75, x + (at + 0.1) * wide, y - high * 0.4, glass)


def tree(canvas, random, x, y, size):
    trunk, wide = random.uniform(0.25, 0.5) * np.array([1, 0.7, 0.45]), size * random.uniform(0.05, 0.09)
    leaf = np.array([random.uniform(0.05, 0.5), random.uniform(0.3, 0.7), random.uniform(0.05, 0.25)])
    canvas.rectangle(x - wide, y - size * 0.5, x + wide, y, trunk)
    if random.rand() < 0.5:  # a fir
        for i in range(3):
            half, bottom = size * (0.36 - 0.08 * i), y - size * (0.2 + 0.22 * i)
            canvas.polygon([(x, bottom - size * 0.38), (x + half, bottom), (x - half, bottom)], shade(leaf, 1 + 0.12 * i))
    else:
        for i in range(6):
            angle = i * np.pi / 3 + random.rand()
            canvas.disc(x + size * 0.17 * np.cos(angle), y - size * 0.66 + size * 0.15 * np.sin(angle),
                        size * random.uniform(0.15, 0.21), shade(leaf, random.uniform(0.85, 1.2)))


def car(canvas, random, x, y, size):
    color, glass = random.uniform(0.1, 1, 3), np.array([0.6, 0.8, 0.9]) * random.uniform(0.7, 1.1)
    wheel, sign = size * random.uniform(0.09, 0.12), random.choice([-1, 1])
    bottom, high = y - wheel * 0.8, size * random.uniform(0.17, 0.22)
    cabin = [(-0.2, 0), (-0.12, -1), (0.16, -1), (0.3, 0)]
    points = [(x + sign * a * size, bottom - high + b * high * 0.85) for a, b in cabin]
    canvas.polygon(points if sign > 0 else points[::-1], color)
    points = [(x + sign * a * size * 0.8, bottom - high + b * high * 0.7) for a, b in cabin]
    canvas.polygon(points if sign > 0 else points[::-1], np.clip(glass, 0, 1))
    canvas.rectangle(x - size / 2, bottom - high, x + size / 2, bottom, color)
    for at in (-0.28, 0.28):
        canvas.disc(x + at * size, y - wheel, wheel, (0.1, 0.1, 0.12))
        canvas.disc(x + at * size, y - wheel, wheel * 0.5, (0.7, 0.7, 0.7))


def boat(canvas, random, x, y, size):
    hull, sail = random.uniform(0.1, 0.9, 3), random.uniform(0.75, 1, 3)
    deep, mast, sign = size * random.uniform(0.15, 0.22), size * random.uniform(0.7, 1), random.choice([-1, 1])
    canvas.rectangle(x - size * 0.015, y - deep - mast, x + size * 0.015, y - deep, (0.3, 0.2, 0.1))
    for side, wide in ((sign, 0.42), (-sign, 0.26)):
        points = [(x + side * size * 0.03, y - deep - mast), (x + side * size * wide, y - deep * 1.3),
                  (x + side * size * 0.03, y - deep * 1.3)]
        canvas.polygon(points if side > 0 else points[::-1], sail if side == sign else shade(sail, 0.88))
    canvas.polygon([(x - size / 2, y - deep), (x + size / 2, y - deep), (x + size * 0.34, y), (x - size * 0.34, y)], hull)


def sun(canvas, random, x, y, size):
    """Its box is that of the rays."""
    color = np.array([1, random.uniform(0.75, 0.95), random.uniform(0.1, 0.5)])
    count, turn = random.randint(8, 14), random.rand()
    for i in range(count):
        angle = 2 * np.pi * (i + turn) / count
        a = np.array([np.cos(angle), np.sin(angle)])
        b, middle = np.array([-a[1], a[0]]), np.array([x, y - size / 2])
        canvas.polygon([middle + a * size * 0.34 - b * size * 0.03, middle + a * size * 0.5,
                        middle + a * size * 0.34 + b * size * 0.03], color)
    canvas.disc(x, y - size / 2, size * 0.3, color)


def cloud(canvas, random, x, y, size):
    color = np.ones(3) * random.uniform(0.85, 1)
    for i in range(5):
        radius = size * (0.2 - 0.045 * abs(i - 2)) * random.uniform(0.9, 1.15)
        canvas.disc(x + size * 0.17 * (i - 2), y - radius - size * random.uniform(0, 0.05), radius, color)


DRAW = [house, tree, car, boat, sun, cloud]


def landscape(canvas, random):
    """Sky, hills, ground and perhaps water. Gives the rows of the horizon and of the water."""
    height, width, _ = canvas.pixels.shape
    horizon = height * random.uniform(0.35, 0.6)
    rows = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    low, high = random.uniform(0.6, 1, 3), random.uniform(0.2, 0.9, 3) * [0.7, 0.9, 1.1]
    canvas.pixels[:] = np.clip(high + (low - high) * rows * 1.8, 0, 1)
    x = np.arange(width, dtype=np.float32)
    for _ in range(random.randint(1, 4)):
        line = horizon - height * random.uniform(0, 0.12) * (1 + np.sin(x / width * random.uniform(3, 9) + 6 * random.rand()))
        color = random.uniform(0.2, 0.7, 3) * [0.8, 1, 0.8]
        cover = np.clip(np.arange(height)[:, None] - line[None] + 0.5, 0, 1)[..., None]
        canvas.pixels += cover * (color.astype(np.float32) - canvas.pixels)
    ground = random.uniform(0.3, 0.8, 3) * [0.9, 1, 0.6]
    canvas.rectangle(0, horizon, width, height, ground)
    water = height * random.uniform(0.7, 0.85) if random.rand() < 0.6 else None
    if water is not None:
        canvas.rectangle(0, water, width, height, random.uniform(0.3, 0.8, 3) * [0.5, 0.8, 1])
    return horizon, water


def overlap(a, b):
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0
    return wide * high / min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))


def place(canvas, random, kind, horizon, water):
    """Where an object of this kind may stand, and how large: x, y of its foot, size."""
    height, width, _ = canvas.pixels.shape
    unit = min(width, height)
    size = unit * random.uniform(0.14, 0.42)
    x = random.uniform(size * 0.5, width - size * 0.5)
    if kind in (SUN, CLOUD):
        return x, random.uniform(size, max(size + 1, horizon * 0.9)), size
    if kind == BOAT:
        return x, random.uniform(water + unit * 0.04, height - 2), size
    return x, random.uniform(horizon + unit * 0.05, (water or height) - 2), size


def scene(random, width, height, most=8, noise=True):
    canvas = Canvas(width, height)
    horizon, water = landscape(canvas, random)
    kinds = [k for k in random.randint(0, len(CLASSES), random.randint(2, most + 1)) if k != BOAT or water is not None]
    kinds = [k for i, k in enumerate(kinds) if k != SUN or SUN not in kinds[:i]]
    wanted = sorted((place(canvas, random, kind, horizon, water) + (kind,) for kind in kinds), key=lambda p: p[1])
    objects = []
    for x, y, size, kind in wanted:  # what stands lower stands before the others
        half = size * 0.55
        if any(overlap((x - half, y - size, x + half, y), other[1:]) > 0.15 for other in objects):
            continue
        canvas.box = [np.inf, np.inf, -np.inf, -np.inf]
        DRAW[kind](canvas, random, x, y, size)
        left, top, right, bottom = canvas.box
        objects.append((kind, max(left, 0), max(top, 0), min(right, width), min(bottom, height)))
        canvas.box = None
    if noise:
        canvas.pixels += random.normal(0, random.uniform(0, 0.03), canvas.pixels.shape)
    return np.clip(canvas.pixels, 0, 1).astype(np.float32), objects
