# SPDX-License-Identifier: Apache-2.0
"""Digits as a hand draws them, without a hand: strokes through a few points, bent, leaned, scaled and moved at random.

In: a random state. Out: pictures of SIDE x SIDE gray pixels from 0 to 1, as light on dark or dark on light, and classes.
Every digit has the ways in which people write it: a one with and without a serif, an open and a closed four, a seven
with a bar.
"""
import numpy as np

SIDE = 28

# Ways of each digit: strokes of points (x, y) from the upper left corner of its box, 0 to 1.
WAYS = [
    [[[(.5, .0), (.15, .2), (.05, .55), (.25, .95), (.6, 1), (.92, .7), (.92, .3), (.7, .03), (.45, .01)]],
     [[(.7, .06), (.3, .1), (.08, .5), (.25, .92), (.6, .96), (.9, .6), (.85, .2), (.6, .02)]],
     [[(.5, .04), (.15, .3), (.1, .75), (.4, 1), (.8, .75), (.88, .3), (.6, .0), (.3, .1), (.2, .25)]]],
    [[[(.5, .0), (.5, .5), (.5, 1)]],
     [[(.2, .25), (.4, .12), (.55, .0)], [(.55, .0), (.55, .5), (.55, 1)]],
     [[(.25, .2), (.55, .0)], [(.55, .0), (.55, 1)], [(.25, 1), (.85, 1)]],
     [[(.0, .45), (.35, .25), (.65, .0)], [(.65, .0), (.62, .5), (.6, 1)]]],
    [[[(.08, .25), (.25, .04), (.65, .02), (.88, .25), (.7, .5), (.35, .78), (.05, 1)], [(.05, 1), (.5, .98), (.95, 1)]],
     [[(.1, .2), (.4, .0), (.8, .12), (.8, .4), (.45, .75), (.15, .95), (.12, .78), (.35, .8), (.6, .98), (.95, .92)]],
     [[(.2, .08), (.5, .0), (.78, .12), (.7, .42), (.4, .75), (.1, 1)], [(.1, 1), (.5, 1), (.98, .97)]]],
    [[[(.1, .12), (.45, .0), (.85, .15), (.75, .4), (.4, .48)], [(.4, .48), (.85, .6), (.88, .88), (.5, 1), (.08, .88)]],
     [[(.1, .03), (.5, .03), (.88, .03)], [(.88, .03), (.65, .25), (.45, .42)],
      [(.45, .42), (.85, .5), (.9, .8), (.55, 1), (.08, .9)]],
     [[(.2, .2), (.3, .02), (.7, .0), (.82, .2), (.6, .4), (.35, .46), (.3, .38), (.45, .4), (.85, .55), (.92, .82), (.55, 1),
       (.08, .85)]],
     [[(.3, .3), (.05, .22), (.2, .02), (.65, .03), (.75, .28), (.35, .48)],
      [(.35, .48), (.8, .52), (.95, .75), (.65, 1), (.2, .92), (.08, .78)]]],
    [[[(.6, .0), (.35, .35), (.03, .68)], [(.03, .68), (.5, .67), (.97, .66)], [(.7, .3), (.7, .65), (.68, 1)]],
     [[(.15, .0), (.12, .3), (.15, .5)], [(.15, .5), (.5, .52), (.85, .48)], [(.85, .0), (.84, .5), (.82, 1)]],
     [[(.72, .0), (.35, .4), (.05, .7)], [(.05, .7), (.95, .7)], [(.72, .0), (.72, .5), (.72, 1)]],
     [[(.2, .05), (.08, .35), (.12, .5), (.45, .55), (.75, .45)], [(.85, .0), (.75, .45), (.62, 1)]]],
    [[[(.88, .02), (.5, .02), (.2, .03)], [(.2, .03), (.17, .25), (.14, .45)],
      [(.14, .45), (.5, .36), (.88, .52), (.88, .82), (.5, 1), (.08, .9)]],
     [[(.85, .0), (.25, .05), (.18, .42), (.55, .38), (.9, .62), (.7, .95), (.3, 1), (.08, .88)]],
     [[(.35, .08), (.65, .04), (1, .0)],
      [(.35, .08), (.25, .25), (.15, .42), (.45, .45), (.62, .7), (.4, .96), (.1, .95), (.05, .8)]],
     [[(.95, .05), (.6, .0), (.3, .1), (.25, .3), (.5, .45), (.7, .65), (.55, .95), (.2, 1), (.05, .9)]]],
    [[[(.75, .0), (.4, .2), (.12, .6), (.25, .95), (.65, 1), (.9, .76), (.7, .52), (.35, .56), (.14, .75)]],
     [[(.5, .0), (.2, .35), (.08, .75), (.35, 1), (.75, .95), (.85, .7), (.55, .52), (.2, .65), (.1, .8)]],
     [[(.6, .0), (.2, .25), (.05, .65), (.25, .97), (.65, 1), (.95, .8), (.85, .52), (.6, .48), (.42, .65), (.45, .8)]]],
    [[[(.05, .03), (.5, .03), (.95, .03)], [(.95, .03), (.65, .45), (.42, 1)]],
     [[(.05, .04), (.5, .02), (.92, .05)], [(.92, .05), (.7, .45), (.35, 1)], [(.3, .5), (.55, .48), (.85, .48)]],
     [[(.08, .2), (.1, .03)], [(.1, .03), (.5, .05), (.93, .0)], [(.93, .0), (.65, .4), (.5, 1)]]],
    [[[(.82, .13), (.5, .0), (.16, .14), (.25, .38), (.65, .55), (.9, .8), (.5, 1), (.1, .82), (.3, .55), (.7, .38),
       (.85, .15)]],
     [[(.5, .48), (.15, .3), (.3, .03), (.7, .03), (.85, .28), (.5, .48)],
      [(.5, .48), (.1, .7), (.3, .98), (.72, .98), (.92, .72), (.5, .48)]],
     [[(.92, .12), (.6, .0), (.25, .08), (.2, .32), (.55, .52), (.68, .78), (.4, 1), (.12, .85), (.3, .6), (.7, .36),
       (.95, .15)]],
     [[(.85, .2), (.6, .02), (.25, .06), (.25, .3), (.6, .5), (.75, .8), (.45, 1), (.15, .82), (.4, .55), (.75, .3),
       (.7, .12)]]],
    [[[(.85, .2), (.5, .0), (.14, .15), (.18, .42), (.5, .52), (.82, .38), (.86, .15)], [(.86, .15), (.82, .6), (.7, 1)]],
     [[(.85, .3), (.65, .03), (.25, .05), (.1, .32), (.35, .53), (.75, .4), (.86, .18)],
      [(.86, .18), (.88, .55), (.6, .93), (.2, .98)]],
     [[(.65, .12), (.4, .0), (.12, .15), (.18, .4), (.45, .42), (.65, .2), (.66, .1)], [(.66, .1), (.78, .5), (.9, 1)]],
     [[(.8, .05), (.4, .04), (.12, .25), (.3, .5), (.65, .4), (.82, .08)], [(.82, .08), (.68, .5), (.55, 1)]],
     [[(.8, .12), (.5, .0), (.2, .15), (.25, .4), (.6, .42), (.82, .12)],
      [(.82, .12), (.92, .6), (.8, .93), (.45, 1), (.08, .9)]]],
]


def smooth(points, steps=5):
    """A curve through the points (Catmull and Rom's)."""
    points = np.asarray(points, float)
    if len(points) < 3:
        return points
    padded = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    t = (np.arange(steps) / steps)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:]):
        pieces.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t ** 2 + (3 * b - a - 3 * c + d) * t ** 3))
    return np.vstack(pieces + [points[-1:]])


def warped(random, points, strength):
    """Points moved by a field that changes slowly from place to place: some parts grow, lean and turn more than others."""
    waves = np.arange(3)
    field = random.normal(0, strength, (2, 3, 3)) / (1 + waves[:, None] + waves)
    along_x, along_y = (np.cos(np.pi * points[:, i, None] * waves) for i in (0, 1))
    return points + np.einsum("kij,pi,pj->pk", field, along_x, along_y)


def pen(random, strokes, wide, high):
    """The strokes' pieces in pixels: where each begins and ends, and its width as part of the pen's."""
    wobble, bend = random.uniform(0, 0.04), random.uniform(-0.15, 0.15)
    angle, lean = random.normal(0, 0.12), random.normal(0.1, 0.25)
    curves = []
    for stroke in strokes:
        curve = smooth(np.asarray(stroke, float) + random.normal(0, wobble, (len(stroke), 2)))
        if len(curve) > 12:  # a pen that comes late or leaves early
            curve = curve[random.randint(0, 3):len(curve) - random.randint(0, 3)]
        curves.append(curve)
    points = warped(random, np.vstack(curves), random.uniform(0, 0.14))
    points[:, 0] += bend * np.sin(np.pi * points[:, 1])
    points = (points - 0.5) * [wide, high]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points = points @ np.array([[1, 0], [-lean, 1]]) @ turn
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    points = (points - low - size / 2) * min(1, 0.9 * SIDE / size.max())
    room = np.maximum(SIDE / 2 - 2 - np.ptp(points, axis=0) / 2, 0)
    points += SIDE / 2 + random.uniform(-1, 1, 2) * room
    curves = np.split(points.astype(np.float32), np.cumsum([len(curve) for curve in curves])[:-1])
    widths = [1 + random.uniform(0, 0.3) * np.sin(np.linspace(0, random.uniform(0, 4), len(curve) - 1) + random.uniform(0, 6))
              for curve in curves]
    return np.vstack([c[:-1] for c in curves]), np.vstack([c[1:] for c in curves]), np.hstack(widths).astype(np.float32)


def digit(random, kind):
    """One picture."""
    strokes = WAYS[kind][random.randint(len(WAYS[kind]))]
    high = random.uniform(0.5, 0.88) * SIDE
    a, b, width = pen(random, strokes, high * (random.uniform(0.45, 1.05) if kind != 1 else random.uniform(0.3, 0.6)), high)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) + np.float32(0.5)
    px, py = x.ravel()[:, None] - a[:, 0], y.ravel()[:, None] - a[:, 1]
    along = b - a
    part = np.clip((px * along[:, 0] + py * along[:, 1]) / np.maximum((along ** 2).sum(axis=1), 1e-9), 0, 1)
    distance = np.hypot(px - part * along[:, 0], py - part * along[:, 1])
    radius, soft = random.uniform(0.55, 2.6) * high / 20, random.uniform(0.8, 2)
    ink = np.clip((np.float32(radius) * width - distance).max(axis=1) / soft + 0.5, 0, 1).reshape(SIDE, SIDE)
    paper, dark = random.uniform(0, 0.25), random.uniform(0.6, 1)
    picture = paper + (dark - paper) * ink + random.normal(0, random.uniform(0, 0.08), ink.shape)
    if random.rand() < 0.5:
        picture = 1 - picture
    return np.clip(picture, 0, 1)


def digits(random, count):
    """Pictures [count, SIDE, SIDE, 1] of bytes, as a file holds them, and classes."""
    classes = random.randint(0, 10, count)
    pictures = np.stack([digit(random, kind) for kind in classes])
    return np.round(pictures * 255)[..., None], classes
