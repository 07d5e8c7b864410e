// In: the text of /metrics, once a second. Out: for each model charts of the last two minutes. Times are the server's
// (halite_uptime_seconds), so that a browser that sleeps draws nothing wrong. Order here: reading, charts, models, start.
'use strict';
const by = id => document.getElementById(id);
const KEPT = 120, SECOND = 1000;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made[key] = value;
  made.append(...children);
  return made;
}

// ---- reading --------------------------------------------------------------------------------------------------------

// name{label="value",...} number: Map of names to lists of { labels, value }.
function parse(text) {
  const metrics = new Map();
  for (const line of text.split('\n')) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) continue;
    const labels = {};
    for (const [, key, value] of (found[2] || '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g))
      labels[key] = value.replace(/\\(.)/g, (all, character) => character === 'n' ? '\n' : character);
    if (!metrics.has(found[1])) metrics.set(found[1], []);
    metrics.get(found[1]).push({ labels, value: Number(found[3]) });
  }
  return metrics;
}

const rowsOf = (metrics, name, labels) => (metrics.get(name) || []).filter(
  row => Object.entries(labels).every(([key, value]) => row.labels[key] === value));
const valueOf = (metrics, name, labels = {}) => rowsOf(metrics, name, labels).reduce((sum, row) => sum + row.value, 0);

// The time below which this part of the new answers lies, linear within its bucket; in milliseconds.
function quantile(before, now, model, part) {
  const name = 'halite_inference_seconds_bucket', old = rowsOf(before, name, { model });
  const counts = rowsOf(now, name, { model }).map((row, i) => [Number(row.labels.le.replace('+Inf', 'Infinity')),
    row.value - (old[i] ? old[i].value : 0)]);
  const total = counts.length ? counts[counts.length - 1][1] : 0, wanted = part * total;
  if (!total) return NaN;
  let low = 0, below = 0;
  for (const [high, count] of counts) {
    if (count >= wanted) return 1000 * (high === Infinity ? low : low + (high - low) * (wanted - below) / (count - below));
    [low, below] = [high, count];
  }
  return NaN;
}

// ---- charts ---------------------------------------------------------------------------------------------------------

const short = value => !isFinite(value) ? '–' : value >= 1000 ? value.toFixed(0) : value >= 10 ? value.toFixed(1)
  : value.toFixed(2);

// lines: [name, color]; add(values, most) draws one more point of each.
function chart(parent, title, unit, lines) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${KEPT} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', title);
  const made = name => svg.appendChild(document.createElementNS(svg.namespaceURI, name));
  const base = made('line');
  for (const [key, value] of [['x1', 0], ['x2', KEPT], ['y1', 99], ['y2', 99]]) base.setAttribute(key, value);
  const paths = lines.map(([, color]) => {
    const path = made('path');
    path.setAttribute('stroke', `var(--${color})`);
    return path;
  });
  const values = lines.map(() => []), numbers = lines.map(() => element('span'));
  const caption = element('figcaption', {}, element('b', { textContent: title }), ...lines.map(([name, color], i) => {
    const mark = element('i');
    mark.style.background = `var(--${color})`;
    return element('span', {}, mark, `${name} `, numbers[i]);
  }));
  const top = element('span');
  parent.append(element('figure', {}, caption, svg, element('div', { className: 'scale' },
    element('span', { textContent: 'two minutes' }), top)));
  return (added, most = 0) => {
    added.forEach((value, i) => {
      values[i].push(value);
      if (values[i].length > KEPT) values[i].shift();
      numbers[i].textContent = short(value);
    });
    const scale = Math.max(most, 1e-9, ...values.flat().filter(isFinite));
    top.textContent = `0 to ${short(scale)} ${unit}`;
    paths.forEach((path, i) => {
      let drawn = false;
      path.setAttribute('d', values[i].map((value, at) => {
        const word = isFinite(value) ? `${drawn ? 'L' : 'M'}${KEPT - values[i].length + at} ${99 - 95 * value / scale}` : '';
        drawn = isFinite(value);
        return word;
      }).join(''));
    });
  };
}

// ---- models ---------------------------------------------------------------------------------------------------------

const models = new Map();

function example(name) {
  const place = `${location.origin}/v2/models/${encodeURIComponent(name)}`;
  return element('details', {}, element('summary', { textContent: 'How to ask it' }), element('code', { textContent:
    `curl ${place}\ncurl -d '{"inputs": [{"name": …, "datatype": …, "shape": …, "data": […]}]}' \\\n  ${place}/infer` }));
}

function addModel(name) {
  const facts = element('p'), charts = element('div', { className: 'charts' });
  by('models').append(element('section', {}, element('h2', { textContent: name }), facts, charts, example(name)));
  const model = { facts,
    rate: chart(charts, 'Inferences', 'a second', [['done', 'one'], ['429', 'two'], ['other', 'three']]),
    latency: chart(charts, 'Latency, ms', 'ms', [['p50', 'one'], ['p99', 'two']]),
    queue: chart(charts, 'Queue', 'of its limit', [['wait', 'one'], ['computed', 'two']]),
    busy: chart(charts, 'Workers busy, %', '%', [['busy', 'one']]),
    batch: chart(charts, 'Batch', 'together', [['mean', 'one']]) };
  models.set(name, model);
  return model;
}

function drawModel(name, before, now, seconds) {
  const model = models.get(name) || addModel(name), labels = { model: name };
  const value = metric => valueOf(now, metric, labels);
  const more = (metric, extra) => valueOf(now, metric, { ...labels, ...extra }) - valueOf(before, metric, { ...labels, ...extra });
  const outcome = word => more('halite_inferences_total', { outcome: word }) / seconds;
  const workers = value('halite_workers'), limit = value('halite_queue_limit');
  model.rate([outcome('done'), outcome('full'),
    ['failed', 'cancelled', 'late', 'invalid'].reduce((sum, word) => sum + outcome(word), 0)]);
  model.latency([quantile(before, now, name, 0.5), quantile(before, now, name, 0.99)]);
  model.queue([value('halite_queue_waiting'), value('halite_queue_running')], limit);
  model.busy([100 * more('halite_worker_busy_seconds_total') / seconds / workers], 100);
  model.batch([more('halite_batched_inferences_total') / more('halite_batches_total')]);
  const done = valueOf(now, 'halite_inferences_total', { ...labels, outcome: 'done' });
  model.facts.textContent = `${done} answered by ${workers} ${workers === 1 ? 'worker' : 'workers'}, at most ${limit} at a time`;
}

// ---- start ----------------------------------------------------------------------------------------------------------

const server = {
  memory: chart(by('server'), 'Memory, MiB', 'MiB', [['resident', 'one'], ['bodies', 'two']]),
  connections: chart(by('server'), 'Connections', 'open', [['open', 'one']]),
  answers: chart(by('server'), 'Answers', 'a second', [['2xx', 'one'], ['4xx', 'two'], ['5xx', 'three']]),
};
let last = null;

function draw(now) {
  const uptime = valueOf(now, 'halite_uptime_seconds');
  const before = last || now, seconds = uptime - valueOf(before, 'halite_uptime_seconds');
  last = now;
  by('facts').textContent = `up for ${uptime < 120 ? `${uptime.toFixed(0)} s` : `${(uptime / 60).toFixed(0)} min`}`;
  by('facts').className = '';
  if (!(seconds > 0)) return; // the first figures, or a server that was started anew
  for (const row of now.get('halite_workers') || []) drawModel(row.labels.model, before, now, seconds);
  const rate = name => (valueOf(now, 'halite_http_answers_total', { class: name })
    - valueOf(before, 'halite_http_answers_total', { class: name })) / seconds;
  server.memory([valueOf(now, 'process_resident_memory_bytes') / 1048576, valueOf(now, 'halite_http_body_bytes') / 1048576]);
  server.connections([valueOf(now, 'halite_http_connections')]);
  server.answers([rate('2xx'), rate('4xx'), rate('5xx')]);
}

async function look() {
  try {
    const answer = await fetch('/metrics');
    draw(parse(await answer.text()));
  } catch (problem) {
    by('facts').textContent = 'the server does not answer';
    by('facts').className = 'lost';
    last = null;
  }
  setTimeout(look, SECOND);
}
look();
