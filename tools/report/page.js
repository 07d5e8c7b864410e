// In: the JSON of #data (halite inspect --json, with `placement` and `times`). Out: the page. Names come from the model's
// file, so they enter the page as text only. Order here: data, layout, drawing, choosing, tables, memory, start; words.js has
// what other pages say things with, too.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function drawn(name, attributes = {}, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// ---- the data in the page's own words -------------------------------------------------------------------------------

// What a node or a model computes; empty where nothing multiplies and nothing is learned.
const workOf = ({ multiply_adds: adds, parameters, operations_per_byte: intensity }) => [
  adds && `${amount(adds)} multiply-adds`, parameters && `${amount(parameters)} parameters`,
  adds && intensity && `${rounded(intensity)} operations a byte`].filter(Boolean).join(', ');

// Rows of nodes and of GPU kernels, summed up by node; a row of neither is a delegated part as a whole, or a copy.
const times = data.times || { nodes: [] };
const nodeCount = data.subgraphs[0].nodes.length;
const spent = new Map(), runBy = new Map(); // runBy: of nodes that another one computes, too
for (const row of times.nodes) {
  if (row.node >= 0 && row.node < nodeCount) spent.set(row.node, (spent.get(row.node) || 0) + row.ns);
  if (row.run_by !== undefined) runBy.set(row.node, row.run_by);
}
const total = [...spent.values()].reduce((sum, ns) => sum + ns, 0);
const slowest = Math.max(1, ...spent.values());

// Where a node runs, and why: the delegate's report, else whether the CPU can.
function placeOf(subgraph, number) {
  const row = data.placement && data.placement.subgraphs[subgraph][number];
  if (row) return { place: row.where, reason: row.where === 'CPU' ? row.text : '' };
  return { place: data.runs_here ? 'CPU' : '', reason: '' };
}

function placementFacts() {
  const placement = data.placement;
  if (!placement) return '';
  const device = placement.assumed ? 'a GPU (none is here)' : `${placement.description} (${placement.device}, ${placement.precision})`;
  return `${placement.on_gpu} of ${counted(placement.operators, 'operator')} on ${device} in `
    + counted(placement.partitions, 'part');
}

// Nodes that only make a constant readable (DEQUANTIZE of stored halves, in most float16 models) are drawn as a part of the
// first node that reads them: each would be a vertex of its own beside the graph's way. Node number -> that reader's number.
function foldedNodes(graph) {
  const made = new Set(graph.inputs.concat(...graph.nodes.map(node => node.outputs)));
  const kept = new Set(graph.outputs), reader = new Map(), folded = new Map();
  graph.nodes.forEach((node, number) => node.inputs.forEach(tensor => {
    if (!reader.has(tensor)) reader.set(tensor, number);
  }));
  graph.nodes.forEach((node, number) => {
    const plain = ['DEQUANTIZE', 'DENSIFY'].includes(node.operator) && node.outputs.length === 1;
    const output = node.outputs[0];
    if (plain && node.inputs.every(tensor => !made.has(tensor)) && !kept.has(output) && reader.has(output))
      folded.set(number, reader.get(output));
  });
  return folded;
}

// A subgraph as vertices: its nodes, with a vertex for each input and output of the graph.
function read(index) {
  const graph = data.subgraphs[index];
  const vertices = [], producer = new Map(), edges = [];
  const used = new Set(graph.outputs.concat(...graph.nodes.map(node => node.inputs)));
  const folded = foldedNodes(graph), all = [];
  for (const tensor of graph.inputs) {
    if (tensor < 0 || !used.has(tensor)) continue;
    producer.set(tensor, vertices.length);
    vertices.push({ kind: 'input', title: 'input', outputs: [tensor], inputs: [] });
  }
  graph.nodes.forEach((node, number) => {
    const vertex = {
      kind: 'node', number, title: node.operator, node, inputs: node.inputs, outputs: node.outputs,
      ...placeOf(index, number), ns: index === 0 ? spent.get(number) : undefined, parts: [],
      runBy: index === 0 ? runBy.get(number) : undefined,
    };
    all.push(vertex);
    if (folded.has(number)) return;
    for (const tensor of new Set(node.inputs))
      if (producer.has(tensor)) edges.push({ from: producer.get(tensor), to: vertices.length, tensor });
    for (const tensor of node.outputs) producer.set(tensor, vertices.length);
    vertices.push(vertex);
  });
  for (const tensor of graph.outputs) {
    if (!producer.has(tensor)) continue;
    edges.push({ from: producer.get(tensor), to: vertices.length, tensor });
    vertices.push({ kind: 'output', title: 'output', inputs: [tensor], outputs: [] });
  }
  for (const [part, reader] of folded) {
    let whole = reader;
    while (folded.has(whole)) whole = folded.get(whole);
    all[part].whole = all[whole];
    all[whole].parts.push(all[part]);
  }
  return { index, tensors: graph.tensors, vertices, edges, all };
}

// ---- layout: layers by the longest path, crossings reduced by medians, columns by least squares -----------------------

const WIDTH = 172, HEIGHT = 50, GAP = 22, PITCH = 92, LONGEST_DETOUR = 60;

function layOut(graph) {
  const { vertices, edges } = graph;
  vertices.forEach(vertex => { vertex.layer = 0; vertex.width = WIDTH; });
  for (const edge of edges) // edges are in the order of their consumers, so producers have their layer
    vertices[edge.to].layer = Math.max(vertices[edge.to].layer, vertices[edge.from].layer + 1);
  const consumers = vertices.map(() => []), produced = vertices.map(() => false);
  for (const edge of edges) {
    consumers[edge.from].push(vertices[edge.to].layer);
    produced[edge.to] = true;
  }
  vertices.forEach((vertex, i) => { // what has nothing above it stands right above its first consumer
    if (!produced[i] && consumers[i].length) vertex.layer = Math.min(...consumers[i]) - 1;
  });
  // An edge over several layers gets a bend in each, which keeps its way free.
  const points = vertices.slice();
  for (const edge of edges) {
    edge.way = [vertices[edge.from]];
    const length = vertices[edge.to].layer - vertices[edge.from].layer;
    for (let i = 1; i < length && length <= LONGEST_DETOUR; i++) {
      const bend = { kind: 'bend', layer: vertices[edge.from].layer + i, width: 8 };
      edge.way.push(bend);
      points.push(bend);
    }
    edge.way.push(vertices[edge.to]);
  }
  const layers = [];
  for (const point of points) {
    point.above = [];
    point.below = [];
    (layers[point.layer] = layers[point.layer] || []).push(point);
  }
  for (const edge of edges)
    for (let i = 1; i < edge.way.length; i++) {
      edge.way[i].above.push(edge.way[i - 1]);
      edge.way[i - 1].below.push(edge.way[i]);
    }
  for (let i = 0; i < layers.length; i++) layers[i] = layers[i] || [];
  const number = layer => layer.forEach((point, i) => { point.order = i; });
  layers.forEach(number);
  const mean = (list, key) => list.reduce((sum, point) => sum + point[key], 0) / list.length;
  for (let sweep = 0; sweep < 8; sweep++) {
    const side = sweep % 2 ? 'below' : 'above';
    for (const layer of sweep % 2 ? layers.slice().reverse() : layers) {
      const wanted = new Map(layer.map(p => [p, p[side].length ? mean(p[side], 'order') : p.order]));
      layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a.order - b.order);
      number(layer);
    }
  }
  layers.forEach(layer => layer.forEach((point, i) => { point.x = i * (WIDTH + GAP); }));
  for (let sweep = 0; sweep < 12; sweep++) {
    const side = sweep % 2 ? 'below' : 'above';
    for (const layer of sweep % 2 ? layers.slice().reverse() : layers)
      spread(layer, layer.map(point => point[side].length ? mean(point[side], 'x') : point.x));
  }
  for (const point of points) point.y = point.layer * PITCH;
  const left = Math.min(...points.map(point => point.x - point.width / 2));
  for (const point of points) point.x -= left;
  graph.width = Math.max(1, ...points.map(point => point.x + point.width / 2));
  graph.height = layers.length * PITCH;
}

// The positions nearest to those wanted, in the least squares sense, that keep order and distances: neighbors that
// would collide are pooled into blocks.
function spread(layer, wanted) {
  const offsets = [0];
  for (let i = 1; i < layer.length; i++)
    offsets.push(offsets[i - 1] + (layer[i - 1].width + layer[i].width) / 2 + GAP);
  const blocks = [];
  for (let i = 0; i < layer.length; i++) {
    let block = { sum: wanted[i] - offsets[i], count: 1 };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].count >= block.sum / block.count) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, count: before.count + block.count };
    }
    blocks.push(block);
  }
  let i = 0;
  for (const block of blocks)
    for (let n = 0; n < block.count; n++, i++) layer[i].x = block.sum / block.count + offsets[i];
}

// ---- drawing ---------------------------------------------------------------------------------------------------------

const view = { x: 0, y: 0, scale: 1 };
let graph, sheet, chosen = null;

// The page's colors as it is lit now, and what nodes are colored by: looked up once for all nodes.
const palette = {};

function mix() {
  for (const name of ['none', 'cpu', 'gpu', 'other', 'card', 'ink', 'mark']) palette[name] = style(`--${name}`);
  palette.byTime = by('colors').querySelector(':checked').value === 'time';
}

const nameOf = vertex => vertex.kind === 'node' ? `${vertex.title} #${vertex.number}` : vertex.title;
const placeColor = place => palette[!place ? 'none' : place === 'CPU' ? 'cpu' : place === 'GPU' ? 'gpu' : 'other'];

// From gray to red; the slowest node is the reddest.
function timeColor(ns) {
  if (ns === undefined) return palette.none;
  const share = Math.sqrt(ns / slowest);
  return `hsl(${40 - 40 * share} ${20 + 70 * share}% 50%)`;
}

function colorOf(vertex) {
  if (vertex.kind !== 'node') return palette.none;
  return palette.byTime ? timeColor(vertex.ns) : placeColor(vertex.place);
}

function draw() {
  const svg = by('graph');
  svg.replaceChildren();
  sheet = drawn('g');
  for (const edge of graph.edges) {
    const way = edge.way;
    let path = `M${way[0].x},${way[0].y + HEIGHT}`;
    for (let i = 1; i < way.length; i++) {
      const from = way[i - 1].y + (i === 1 ? HEIGHT : HEIGHT / 2);
      const to = way[i].y + (i === way.length - 1 ? 0 : HEIGHT / 2);
      const middle = (from + to) / 2;
      path += `C${way[i - 1].x},${middle} ${way[i].x},${middle} ${way[i].x},${to}`;
    }
    const end = way[way.length - 1];
    path += `M${end.x - 4},${end.y - 7}L${end.x},${end.y}L${end.x + 4},${end.y - 7}`;
    edge.mark = drawn('path', { d: path, class: 'edge' });
    sheet.append(edge.mark);
  }
  for (const vertex of graph.vertices) {
    const mark = drawn('g', { transform: `translate(${vertex.x - WIDTH / 2},${vertex.y})` });
    mark.append(drawn('rect', { width: WIDTH, height: HEIGHT, rx: vertex.kind === 'node' ? 6 : HEIGHT / 2 }));
    const title = vertex.title.length > 24 ? `${vertex.title.slice(0, 23)}…` : vertex.title;
    mark.append(drawn('text', { x: WIDTH / 2, y: 19, class: 'op' }, title));
    const tensor = graph.tensors[vertex.outputs.concat(vertex.inputs).find(index => index >= 0)];
    mark.append(drawn('text', { x: WIDTH / 2, y: 35, class: 'small' },
      [tensor && shaped(tensor), timed(vertex.ns)].filter(Boolean).join(' · ')));
    mark.append(drawn('title', {}, [nameOf(vertex), vertex.place, timed(vertex.ns)].filter(Boolean).join(' · ')));
    mark.addEventListener('click', () => choose(vertex));
    vertex.mark = mark;
    sheet.append(mark);
  }
  svg.append(sheet);
  paint();
}

function paint() {
  mix();
  for (const vertex of graph.vertices) {
    const rect = vertex.mark.firstChild, color = colorOf(vertex);
    vertex.mark.setAttribute('class', ['node', vertex.place === 'CPU' && 'cpu', vertex.found && 'found',
      vertex === chosen && 'chosen'].filter(Boolean).join(' '));
    rect.setAttribute('fill', `color-mix(in srgb, ${color} 22%, ${palette.card})`);
    rect.setAttribute('stroke', color);
  }
  for (const edge of graph.edges)
    edge.mark.setAttribute('class', chosen && edge.way.includes(chosen) ? 'edge chosen' : 'edge');
  paintOverview();
}

function move() {
  sheet.setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`);
}

function zoom(factor, x, y) {
  const box = by('graph').getBoundingClientRect();
  const scale = Math.min(4, Math.max(0.01, view.scale * factor));
  const at = { x: x === undefined ? box.width / 2 : x, y: y === undefined ? box.height / 2 : y };
  view.x = at.x - (at.x - view.x) * scale / view.scale;
  view.y = at.y - (at.y - view.y) * scale / view.scale;
  view.scale = scale;
  move();
}

// The whole graph; or its beginning, the first input, at a size that can be read.
function fit(whole) {
  const READABLE = 0.8;
  const box = by('graph').getBoundingClientRect(), first = graph.vertices[0];
  const across = (box.width - 40) / graph.width, down = (box.height - 40) / graph.height;
  view.scale = whole ? Math.max(0.01, Math.min(1, across, down)) : Math.max(READABLE, Math.min(1, across));
  const fits = graph.width * view.scale <= box.width;
  view.x = whole || fits || !first ? (box.width - graph.width * view.scale) / 2 : box.width / 2 - first.x * view.scale;
  view.y = 20 - (whole || !first ? 0 : first.y * view.scale);
  move();
}

function show(part) {
  const vertex = part.whole || part;
  const box = by('graph').getBoundingClientRect();
  view.scale = Math.max(view.scale, 0.7);
  view.x = box.width / 2 - vertex.x * view.scale;
  view.y = box.height / 2 - (vertex.y + HEIGHT / 2) * view.scale;
  move();
}

// A canvas as sharp as the screen; its context is in CSS pixels.
function canvas(id) {
  const made = by(id), box = made.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  made.width = Math.max(1, box.width * ratio);
  made.height = Math.max(1, box.height * ratio);
  const context = made.getContext('2d');
  context.scale(ratio, ratio);
  return { context, width: box.width, height: box.height };
}

const onlyNodes = () => graph.all;

function paintOverview() {
  const { context, width, height } = canvas('overview');
  const nodes = onlyNodes(), row = height / Math.max(1, nodes.length);
  nodes.forEach((vertex, i) => {
    context.fillStyle = colorOf(vertex);
    context.fillRect(0, i * row, width, Math.max(1, row - (row > 4 ? 1 : 0)));
    if (vertex !== chosen && !vertex.found) return;
    context.fillStyle = vertex === chosen ? palette.ink : palette.mark;
    context.fillRect(0, i * row, 7, Math.max(2, row));
  });
}

// The whole graph as an SVG file of its own, in the colors that the page has now.
function asSvg() {
  const MARGIN = 20, box = [-MARGIN, -MARGIN, graph.width + 2 * MARGIN, graph.height + 2 * MARGIN];
  const made = drawn('svg', { viewBox: box.join(' '), width: box[2], height: box[3] });
  const rules = `.node text{font:12px sans-serif;text-anchor:middle;fill:${style('--ink')}}.node .op{font-weight:600}`
    + `.node .small{font-size:10px;fill:${style('--faint')}}.edge{fill:none;stroke:${style('--faint')}}`;
  const copy = sheet.cloneNode(true);
  copy.removeAttribute('transform');
  copy.querySelectorAll('rect').forEach((rect, i) => { // programs that draw SVG may not know color-mix
    const shown = getComputedStyle(graph.vertices[i].mark.firstChild);
    rect.setAttribute('fill', style('--card'));
    rect.setAttribute('stroke', shown.stroke);
  });
  made.append(drawn('style', {}, rules), copy);
  return new XMLSerializer().serializeToString(made);
}

function save() {
  const name = `${data.file.split('/').pop()}${graph.index ? `.${graph.index}` : ''}.svg`;
  const url = URL.createObjectURL(new Blob([asSvg()], { type: 'image/svg+xml' }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// ---- choosing and finding ----------------------------------------------------------------------------------------------

function link(vertex) {
  const made = element('a', { href: '#graph' }, nameOf(vertex));
  made.addEventListener('click', event => { event.preventDefault(); choose(vertex); show(vertex); });
  return made;
}

function tensorItem(index, others) {
  const tensor = graph.tensors[index];
  const item = element('li', {}, `${tensor.name || '(no name)'} `, element('br'), element('code', {},
    [shaped(tensor), tensor.bytes !== undefined && sized(tensor.bytes), tensor.constant && 'constant',
      tensor.variable && 'variable', `tensor ${index}`].filter(Boolean).join(' · ')));
  const q = tensor.quantization;
  if (q && q.scales) {
    const text = q.scales.length === 1 ? `scale ${q.scales[0].toPrecision(6)}, zero point ${q.zero_points[0]}`
      : `${q.scales.length} scales along dimension ${q.dimension}`;
    item.append(element('br'), element('code', {}, text));
  }
  for (const other of others) item.append(element('br'), link(other));
  return item;
}

// quietly: the page around this one is not told.
function choose(part, quietly) {
  const vertex = part && part.whole ? part.whole : part;
  chosen = vertex;
  const number = chosen && graph.index === 0 ? chosen.number : undefined;
  if (!quietly && window.parent !== window) window.parent.postMessage({ chosen: number }, '*');
  paint();
  const panel = by('details');
  panel.replaceChildren();
  if (!vertex) {
    panel.append(element('p', {}, 'Click a node to see where it runs, why, and what flows through it. '
      + 'Arrow keys go from one to the next.'));
    return;
  }
  panel.append(element('h3', {}, vertex.kind === 'node' ? nameOf(vertex) : `Graph ${vertex.title}`));
  if (vertex.kind === 'node') {
    const facts = [`version ${vertex.node.version}`, vertex.place && `on ${vertex.place}`,
      vertex.ns !== undefined && `${timed(vertex.ns)} (${(100 * vertex.ns / total).toFixed(1)} %)`].filter(Boolean);
    panel.append(element('p', {}, facts.join(', ')));
    const work = workOf(vertex.node);
    if (work) panel.append(element('p', {}, work));
    if (vertex.reason) panel.append(element('p', { className: 'reason' }, vertex.reason));
    if (vertex.runBy !== undefined)
      panel.append(element('p', {}, 'computed by ', link(graph.all[vertex.runBy]), ', which has its time'));
    if (vertex.parts.length)
      panel.append(element('p', {}, `with ${vertex.parts.map(nameOf).join(', ')}, which only read constants`));
  }
  const options = vertex.kind === 'node' ? Object.entries(vertex.node.options || {}) : [];
  if (options.length) {
    const words = ([name, value]) => element('li', {}, `${name.replaceAll('_', ' ')} `,
      element('code', {}, Array.isArray(value) ? `[${value.join(', ')}]` : String(value)));
    panel.append(element('h4', {}, 'Options'), element('ul', { className: 'options' }, ...options.map(words)));
  }
  const list = (name, indices, others) => {
    const present = indices.filter(index => index >= 0);
    if (!present.length) return;
    panel.append(element('h4', {}, name),
      element('ul', {}, ...present.map(index => tensorItem(index, others(index)))));
  };
  list('Inputs', vertex.inputs, index => graph.edges.filter(edge => edge.tensor === index
    && graph.vertices[edge.to] === vertex).map(edge => graph.vertices[edge.from]));
  list('Outputs', vertex.outputs, index => graph.edges.filter(edge => edge.tensor === index
    && graph.vertices[edge.from] === vertex).map(edge => graph.vertices[edge.to]));
}

let hits = [], hit = -1;

function find(text) {
  const words = text.toLowerCase().trim();
  const fits = vertex => (vertex.parts || []).some(fits) || (words.startsWith('#') ? String(vertex.number) === words.slice(1)
    : [vertex.title, vertex.place || '', ...vertex.inputs.concat(vertex.outputs).filter(i => i >= 0)
      .map(i => graph.tensors[i].name)].some(name => name.toLowerCase().includes(words)));
  for (const vertex of graph.vertices) vertex.found = words !== '' && fits(vertex);
  hits = graph.vertices.filter(vertex => vertex.found);
  hit = -1;
  by('found').textContent = words === '' ? '' : counted(hits.length, 'node');
  paint();
}

function next(step) {
  if (!hits.length) return;
  hit = (hit + step + hits.length) % hits.length;
  by('found').textContent = `${hit + 1} of ${hits.length}`;
  choose(hits[hit]);
  show(hits[hit]);
}

// ---- tables ------------------------------------------------------------------------------------------------------------

function fillTables() {
  const nodes = onlyNodes();
  const operators = new Map();
  for (const vertex of nodes) {
    const row = operators.get(vertex.title) || { op: vertex.title, nodes: 0, reasons: new Set() };
    row.nodes++;
    if (data.placement) {
      row.gpu = (row.gpu || 0) + (vertex.place === 'GPU');
      row.cpu = (row.cpu || 0) + (vertex.place === 'CPU');
    }
    if (vertex.ns !== undefined) row.ns = (row.ns || 0) + vertex.ns;
    if (vertex.reason) row.reasons.add(vertex.reason);
    operators.set(vertex.title, row);
  }
  const rows = [...operators.values()].sort((a, b) => (b.ns || 0) - (a.ns || 0) || b.nodes - a.nodes);
  for (const row of rows) {
    if (row.ns !== undefined && total) row.share = row.ns / total;
    row.why = [...row.reasons].join('; ');
  }
  table('operators', [['Operator', 'op'], ['Nodes', 'nodes'], ['On the GPU', 'gpu'], ['On the CPU', 'cpu'],
    ['Time', 'ns', timed], ['Share', 'share', percent], ['Why on the CPU', 'why']], rows, row => {
    by('search').value = row.op;
    find(row.op);
    next(1);
  });
  table('nodes', [['#', 'number'], ['Operator', 'op'], ['Place', 'place'], ['Output', 'output'], ['Options', 'options'],
    ['Mult-adds', 'adds', amount], ['Parameters', 'parameters', amount], ['Time', 'ns', timed],
    ['Share', 'share', percent], ['Reason', 'reason']], nodes.map(vertex => {
    const tensor = graph.tensors[vertex.outputs.find(index => index >= 0)];
    return {
      vertex, number: vertex.number, op: vertex.title, place: vertex.place, output: tensor ? shaped(tensor) : '',
      ns: vertex.ns, share: vertex.ns !== undefined && total ? vertex.ns / total : undefined,
      reason: vertex.reason, options: vertex.node.summary, adds: vertex.node.multiply_adds || undefined,
      parameters: vertex.node.parameters || undefined,
    };
  }), row => {
    choose(row.vertex);
    show(row.vertex);
    by('graph').scrollIntoView({ block: 'nearest' });
  });
}

// ---- memory: time to the right, addresses upwards -----------------------------------------------------------------------

function fillMemory() {
  const plan = data.memory;
  by('memory').hidden = !plan;
  if (!plan) return;
  const blocks = plan.tensors.filter(tensor => tensor.where === 'arena' && tensor.bytes && tensor.shares_with === undefined);
  by('memory-facts').textContent = `On the CPU: ${sized(plan.arena)} shared by ${counted(blocks.length, 'tensor')} `
    + `that would take ${sized(plan.arena_unshared)} side by side; ${sized(plan.persistent)} kept between runs; `
    + `${sized(plan.constants)} of constants. Nodes from left to right, addresses upwards.`;
  const { context, width, height } = canvas('memory-plan');
  const last = Math.max(1, ...blocks.map(block => block.last_node + 1));
  const x = node => width * node / last, y = bytes => height - (height - 8) * bytes / Math.max(1, plan.arena);
  blocks.forEach((block, i) => {
    const from = block.first_node < 0 ? 0 : block.first_node, to = block.first_node < 0 ? last : block.last_node + 1;
    block.box = [x(from), y(block.offset + block.bytes), Math.max(1, x(to) - x(from)),
      Math.max(1, y(block.offset) - y(block.offset + block.bytes))];
    context.fillStyle = `hsl(${(i * 47) % 360} 45% 58%)`;
    context.fillRect(...block.box);
    context.strokeStyle = style('--paper');
    context.strokeRect(...block.box);
  });
  by('memory-plan').onmousemove = event => {
    const under = blocks.find(({ box }) => event.offsetX >= box[0] && event.offsetX <= box[0] + box[2]
      && event.offsetY >= box[1] && event.offsetY <= box[1] + box[3]);
    by('memory-plan').title = under ? `${under.name}: ${sized(under.bytes)} at ${under.offset}, `
      + `nodes ${under.first_node} to ${under.last_node}` : '';
  };
}

// ---- start -------------------------------------------------------------------------------------------------------------

function legend() {
  const mark = (color, text) => {
    const square = element('i');
    square.style.background = color;
    return element('span', {}, square, text);
  };
  const places = [...new Set(onlyNodes().map(vertex => vertex.place))].filter(Boolean);
  by('legend').replaceChildren(...palette.byTime ? [mark('hsl(40 20% 50%)', 'fast'), mark('hsl(0 90% 50%)', 'slow')]
    : places.map(place => mark(placeColor(place), place)));
}

function open(index) {
  graph = read(index);
  layOut(graph);
  draw();
  fillTables();
  legend();
  choose(null, true);
  find(by('search').value);
  fit(false);
}

function listen() {
  const svg = by('graph');
  const fingers = new Map(); // pointers that are down, where they were last
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  svg.addEventListener('pointerdown', event => fingers.set(event.pointerId, { x: event.clientX, y: event.clientY }));
  for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
    svg.addEventListener(end, event => fingers.delete(event.pointerId));
  // One finger or the mouse moves the sheet; two also zoom it, by how far they are apart.
  svg.addEventListener('pointermove', event => {
    const before = fingers.get(event.pointerId);
    if (!before || !event.buttons) return;
    const now = { x: event.clientX, y: event.clientY }, count = fingers.size;
    const other = [...fingers].find(([id]) => id !== event.pointerId);
    fingers.set(event.pointerId, now);
    view.x += (now.x - before.x) / count;
    view.y += (now.y - before.y) / count;
    if (count !== 2) return void move();
    const apart = point => Math.max(1, Math.hypot(point.x - other[1].x, point.y - other[1].y));
    const box = svg.getBoundingClientRect();
    zoom(apart(now) / apart(before), (now.x + other[1].x) / 2 - box.left, (now.y + other[1].y) / 2 - box.top);
  });
  svg.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const { vertices } = graph, to = vertices[chosen ? vertices.indexOf(chosen) + step : step > 0 ? 0 : vertices.length - 1];
    if (!to) return;
    choose(to);
    show(to);
  });
  by('overview').addEventListener('click', event => {
    const nodes = onlyNodes();
    const at = Math.floor(event.offsetY / by('overview').clientHeight * nodes.length);
    if (!nodes[at]) return;
    choose(nodes[at]);
    show(nodes[at]);
  });
  by('search').addEventListener('input', event => find(event.target.value));
  by('search').addEventListener('keydown', event => { if (event.key === 'Enter') next(event.shiftKey ? -1 : 1); });
  by('subgraph').addEventListener('change', event => open(Number(event.target.value)));
  by('colors').addEventListener('change', () => { paint(); legend(); });
  by('smaller').addEventListener('click', () => zoom(1 / 1.4));
  by('larger').addEventListener('click', () => zoom(1.4));
  by('fit').addEventListener('click', () => fit(true));
  by('save').addEventListener('click', save);
  const keys = {
    '/': () => by('search').focus(), '+': () => zoom(1.4), '-': () => zoom(1 / 1.4), 0: () => fit(true),
    Escape: () => choose(null),
  };
  document.addEventListener('keydown', event => {
    if (event.target === by('search') || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  window.addEventListener('message', event => { // from a page with two reports (pair.js): this one's partner was chosen
    if (event.source !== window.parent || window.parent === window) return;
    if (graph.index !== 0) open(0);
    const to = graph.all[event.data.choose];
    choose(to || null, true);
    if (to) show(to);
  });
  window.addEventListener('resize', () => { paintOverview(); fillMemory(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paint(); legend(); fillMemory(); });
}

const fileName = data.file.split('/').pop();
document.title = `${fileName} – Halite`;
// A long name breaks behind its marks before it breaks inside a word.
for (const piece of fileName.split(/(?<=[_.-])/)) by('title').append(piece, element('wbr'));
by('facts').textContent = [sized(data.bytes), counted(nodeCount, 'node'), workOf(data.work || {}), placementFacts(),
  times.runs && `${timed(times.total_ns)} a run${data.placement && data.placement.assumed ? ' on the CPU' : ''} (median of ${times.runs}, the times of nodes are from as many more)`,
  data.reason && `does not run here: ${data.reason}`].filter(Boolean).join(' · ');
data.subgraphs.forEach((subgraph, i) => by('subgraph').append(element('option', { value: i },
  `${i}: ${subgraph.name || 'subgraph'} (${counted(subgraph.nodes.length, 'node')})`)));
by('subgraph').hidden = data.subgraphs.length < 2;
by('colors').hidden = total === 0;
listen();
fillMemory();
open(0);
