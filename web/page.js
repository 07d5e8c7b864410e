// The page: files that are dropped become a model, its classes' names or a picture, which is shown, classified and timed.
'use strict';
const by = id => document.getElementById(id);
const SHOWN = 5, MOST_PIXELS = 25e6, RUNS_MS = 50; // runs go on for so long, for their mean
let library, classes = 0, names = [], pixels = null; // of the picture at hand: an ImageData

const text = at => library.UTF8ToString(at);
const bytesAt = (at, count) => library.HEAPU8.slice(at, at + count);
const fail = () => { throw new Error(text(library._page_message())); };

// What `use` makes of bytes in the library's memory, which it gives back unless it keeps them.
function withBytes(bytes, use, keep) {
  const at = library._page_memory(bytes.length);
  if (!at) throw new Error('there is not enough memory');
  library.HEAPU8.set(bytes, at);
  try {
    return use(at);
  } finally {
    if (!keep) library._page_release(at);
  }
}

function openModel(bytes, name, labels) {
  names = [];
  classes = withBytes(bytes, at => library._page_open(at, bytes.length), true);
  if (!classes) fail();
  names = labels;
  by('about').textContent = `Model: ${name}, ${classes} classes, ${(bytes.length / 1024).toFixed(1)} KiB.`;
}

// Upright, on white where it is not opaque, smaller where it has more pixels than fit into memory.
async function openPicture(blob) {
  const bitmap = await createImageBitmap(blob).catch(() => { throw new Error('this picture cannot be read'); });
  const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (bitmap.width * bitmap.height)));
  const canvas = by('picture'), context = canvas.getContext('2d', { willReadFrequently: true });
  canvas.width = Math.max(1, Math.floor(scale * bitmap.width));
  canvas.height = Math.max(1, Math.floor(scale * bitmap.height));
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  pixels = context.getImageData(0, 0, canvas.width, canvas.height);
}

function show(scores) {
  const best = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b).slice(0, SHOWN);
  const probabilities = scores.every(score => score >= 0 && score <= 1);
  by('classes').tBodies[0].replaceChildren(...best.map(each => {
    const row = document.createElement('tr');
    row.dataset.class = each;
    row.insertCell().textContent = names[each] || `class ${each}`;
    row.insertCell().textContent = probabilities ? `${(100 * scores[each]).toFixed(1)} %` : scores[each].toFixed(3);
    const bar = document.createElement('i');
    bar.style.width = probabilities ? `${100 * scores[each]}%` : '0';
    row.insertCell().append(bar);
    return row;
  }));
}

function classify() {
  if (!pixels) return;
  const start = performance.now();
  if (!withBytes(pixels.data, at => library._page_prepare(at, pixels.width, pixels.height))) fail();
  const prepared = performance.now();
  if (!library._page_run()) fail();
  const first = performance.now();
  let runs = 0, end = first;
  for (; end - first < RUNS_MS; end = performance.now(), runs++) if (!library._page_run()) fail();
  const scores = library._page_scores();
  if (!scores) fail();
  show(library.HEAPF32.slice(scores / 4, scores / 4 + classes));
  by('times').textContent = `One run ${((end - first) / runs).toFixed(3)} ms (mean of ${runs}), the first ` +
    `${(first - prepared).toFixed(2)} ms, before it ${(prepared - start).toFixed(1)} ms for the picture of ` +
    `${pixels.width} x ${pixels.height}.`;
}

// One thing after the other: a model that is dropped with a picture is there before it.
let last = Promise.resolve();
function take(work) {
  document.body.dataset.state = 'working';
  last = last.then(work).then(classify).then(() => { by('error').hidden = true; }, error => {
    by('error').textContent = error.message;
    by('error').hidden = false;
    by('classes').tBodies[0].replaceChildren();
    by('times').textContent = '';
  }).finally(() => { document.body.dataset.state = 'done'; });
  return last;
}

const rank = file => ['.tflite', '.txt'].findIndex(ending => file.name.toLowerCase().endsWith(ending)) & 3;
async function takeFiles(files) {
  for (const file of [...files].sort((a, b) => rank(a) - rank(b))) {
    const kind = rank(file);
    if (kind === 0) openModel(new Uint8Array(await file.arrayBuffer()), file.name, []);
    else if (kind === 1) names = (await file.text()).split(/\r?\n/);
    else await openPicture(file);
  }
}

by('files').addEventListener('change', event => take(() => takeFiles(event.target.files)));
for (const kind of ['dragover', 'dragleave', 'drop'])
  addEventListener(kind, event => {
    event.preventDefault();
    document.body.classList.toggle('over', kind === 'dragover');
    if (kind === 'drop') take(() => takeFiles(event.dataTransfer.files));
  });

take(async () => {
  library = await halite();
  const own = (at, count) => bytesAt(library[at](), library[count]());
  openModel(own('_page_own_model', '_page_own_model_bytes'), 'written digits', text(library._page_own_labels()).split('\n'));
  await openPicture(new Blob([own('_page_own_picture', '_page_own_picture_bytes')]));
});
