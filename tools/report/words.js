// What the pages of halite report say things with: elements, numbers with units, tables.
'use strict';
const by = id => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made[key] = value;
  made.append(...children);
  return made;
}

const rounded = value => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const sized = bytes => bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${rounded(bytes / 1024)} KiB`
  : `${rounded(bytes / 1048576)} MiB`;
const timed = ns => ns === undefined ? '' : ns < 1e6 ? `${rounded(ns / 1e3)} µs` : `${rounded(ns / 1e6)} ms`;
const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
// "950", "1.25 k", "569 M": as halite inspect has them.
function amount(count) {
  let value = count, unit = 0;
  for (; value >= 999.5 && unit < 4; unit++) value /= 1000;
  return unit === 0 ? `${Math.round(value)}` : `${rounded(value)} ${'kMGT'[unit - 1]}`;
}

const shaped = tensor => `${tensor.type}[${tensor.shape.join(',')}]`;
const percent = share => `${(100 * share).toFixed(1)} %`;

// columns: [title, key, text of a value]; numbers are right-aligned and sort downwards first. Columns that no row fills are
// left out.
function table(id, allColumns, rows, click) {
  const columns = allColumns.filter(([, key]) => rows.some(row => row[key] !== undefined && row[key] !== ''));
  const body = element('tbody');
  const fill = () => body.replaceChildren(...rows.map(row => {
    const line = element('tr', {}, ...columns.map(([, key, text]) => {
      const value = row[key];
      return element('td', { className: typeof value === 'number' ? 'number' : '' },
        value === undefined ? '' : text ? text(value) : String(value));
    }));
    line.addEventListener('click', () => click(row));
    line.row = row;
    return line;
  }));
  const heads = columns.map(([title, key]) => {
    const numeric = rows.some(row => typeof row[key] === 'number');
    const head = element('th', { className: numeric ? 'number' : '', scope: 'col', tabIndex: 0 }, title);
    head.addEventListener('keydown', event => { if (event.key === 'Enter') head.click(); });
    head.addEventListener('click', () => {
      const before = head.getAttribute('aria-sort');
      const up = before ? before === 'descending' : !numeric;
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const empty = numeric ? -1 : '';
      rows.sort((a, b) => {
        const x = a[key] === undefined ? empty : a[key], y = b[key] === undefined ? empty : b[key];
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      });
      fill();
    });
    return head;
  });
  by(id).replaceChildren(element('thead', {}, element('tr', {}, ...heads)), body);
  fill();
}
