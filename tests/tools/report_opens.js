// SPDX-License-Identifier: Apache-2.0
// How a page of halite report begins, as the body of an async function in it: one line of words for tests/tools/report_page and
// report_models.py.
const box = document.getElementById('graph').getBoundingClientRect();
const seen = [...document.querySelectorAll('#graph g.node rect')].map(rect => rect.getBoundingClientRect())
    .filter(r => r.left < box.right - 20 && r.right > box.left + 20 && r.top < box.bottom - 20 && r.bottom > box.top);
const whole = seen.filter(r => r.left >= box.left - 1 && r.right <= box.right + 1);
const first = document.querySelector('#graph g.node rect');
const kind = first ? (seen.some(r => r.top === first.getBoundingClientRect().top) ? 'first' : 'later') : 'none';
const rows = new Map();
for (const { x, y } of graph.vertices) rows.set(y, (rows.get(y) || []).concat(x));
let covered = 0;
for (const row of rows.values())
    row.sort((a, b) => a - b).forEach((x, i) => { covered += i > 0 && x - row[i - 1] < WIDTH; });
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
return `opened: ${seen.length} seen, ${whole.length} whole, ${kind}, `
    + `${whole.length && whole[0].height >= 35 ? 'readable' : 'too small'}, `
    + `${covered || PITCH < HEIGHT ? `${covered} cover others` : 'apart'}, ${wide} too wide, ${document.title}`;
