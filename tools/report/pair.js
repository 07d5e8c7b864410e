// In: the JSON of #data: `page`, the page of one report; `reports`, the data of two; `pairs`, which node of the first is which of
// the second (null: it has no partner). Out: both reports in frames, what differs in tables. Names enter as text only.
'use strict';
const { page, reports, pairs } = JSON.parse(by('data').textContent);
const names = reports.map(report => report.file.split('/').pop());
const sides = ['first', 'second'];

// ---- the two reports -----------------------------------------------------------------------------------------------------

const [before, after] = page.split('/*data*/');
const frames = reports.map((report, i) => {
  const inside = JSON.stringify(report).replaceAll('<', '\\u003c');
  const frame = element('iframe', { title: `The ${sides[i]} report`, srcdoc: before + inside + after });
  by('frames').append(frame);
  return frame;
});

function tell(side, number) {
  frames[side].contentWindow.postMessage({ choose: number }, '*');
}

function mark(pair) {
  for (const line of by('pairs').querySelectorAll('tbody tr'))
    line.classList.toggle('chosen', pair !== undefined && line.row.pair === pair);
}

// Whoever clicks a node in one report sees its partner in the other.
window.addEventListener('message', event => {
  const side = frames.findIndex(frame => frame.contentWindow === event.source);
  if (side < 0) return;
  const pair = pairs.find(both => event.data.chosen !== undefined && both[side] === event.data.chosen);
  tell(1 - side, pair ? pair[1 - side] : null);
  mark(pair);
});

// ---- tables ----------------------------------------------------------------------------------------------------------------

// Nanoseconds of each node, of all its kernels.
const spent = reports.map(report => {
  const sum = new Map();
  for (const row of report.times ? report.times.nodes : [])
    if (row.node >= 0) sum.set(row.node, (sum.get(row.node) || 0) + row.ns);
  return sum;
});

const times = (first, second) => first && second !== undefined ? second / first : undefined;
const factor = value => `× ${rounded(value)}`;

function fillSums() {
  const work = name => reports.map(report => (report.work || {})[name]);
  const rows = [
    ['size of the file', sized, reports.map(report => report.bytes)],
    ['nodes', String, reports.map(report => report.subgraphs[0].nodes.length)],
    ['multiply-adds', amount, work('multiply_adds')],
    ['parameters', amount, work('parameters')],
    ['memory of a run', sized, reports.map(report => report.memory && report.memory.total)],
    ['time of a run', timed, reports.map(report => report.times && report.times.total_ns)],
  ].filter(([, , values]) => values.every(value => value !== undefined))
    .map(([what, text, [first, second]]) => ({ what, first: text(first), second: text(second), change: times(first, second) }));
  table('sums', [['', 'what'], [names[0], 'first'], [names[1], 'second'], ['Second to first', 'change', factor]], rows, () => {});
}

function fillPairs() {
  const rows = pairs.map((pair, order) => {
    const row = { pair, order };
    pair.forEach((number, i) => {
      if (number === null) return;
      const graph = reports[i].subgraphs[0], node = graph.nodes[number];
      const output = graph.tensors[node.outputs.find(index => index >= 0)];
      row[`${sides[i]}Number`] = number;
      row.op = node.operator;
      row[sides[i]] = [output && shaped(output), node.summary].filter(Boolean).join(', ');
      row[`${sides[i]}Time`] = spent[i].get(number);
    });
    row.change = times(row.firstTime, row.secondTime);
    return row;
  });
  table('pairs', [['First', 'firstNumber'], ['Second', 'secondNumber'], ['Operator', 'op'], [names[0], 'first'],
    [names[1], 'second'], ['Time', 'firstTime', timed], ['Time', 'secondTime', timed], ['Second to first', 'change', factor]],
  rows, row => {
    row.pair.forEach((number, i) => tell(i, number));
    mark(row.pair);
    by('frames').scrollIntoView({ block: 'nearest' });
  });
}

// ---- start -------------------------------------------------------------------------------------------------------------------

document.title = `${names[0]}, ${names[1]} – Halite`;
for (const piece of names.join(' | ').split(/(?<=[_.-])/)) by('title').append(piece, element('wbr'));
const together = pairs.filter(pair => pair.every(number => number !== null)).length;
by('facts').textContent = [`${counted(together, 'node')} in both`,
  ...sides.map((side, i) => `${counted(pairs.filter(pair => pair[1 - i] === null).length, 'node')} in the ${side} alone`),
].join(' · ');
fillSums();
fillPairs();
