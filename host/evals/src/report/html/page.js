'use strict';
// Opens, narrows and sorts the rows of a page. Without it every row is there, open, in the order of the page.
(() => {
  const table = document.querySelector('table.rows');
  const toolbar = document.querySelector('.toolbar');
  if (!table || !toolbar) return;
  document.documentElement.classList.add('scripted');
  toolbar.hidden = false;

  const rows = [...table.querySelectorAll('tbody.run')];
  const shown = document.querySelector('.shown');
  const controls = (name) => [...toolbar.querySelectorAll(`[name="${name}"]`)];
  const value = (name) => {
    const all = controls(name);
    const control = all.find((one) => one.type !== 'radio' || one.checked);
    return control ? control.value : '';
  };
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };

  const set = (row, open) => {
    row.classList.toggle('open', open);
    const button = row.querySelector('button.open');
    if (button) button.setAttribute('aria-expanded', String(open));
  };
  rows.forEach((row) => set(row, false));
  table.addEventListener('click', (event) => {
    const line = event.target.closest('tr.line');
    const row = line && line.closest('tbody.run');
    // A click that ends a selection of text is none.
    if (!row || !row.querySelector('tr.more') || String(getSelection())) return;
    set(row, !row.classList.contains('open'));
  });

  const narrow = () => {
    const [status, below] = [value('status'), value('below')];
    const words = value('text').toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits =
        (!status || row.dataset.status === status) &&
        (!below || (row.dataset.below || '').split(' ').includes(below)) &&
        words.every((word) => textOf(row).includes(word));
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = count === rows.length ? '' : `${count.toLocaleString('en')} of ${rows.length.toLocaleString('en')} shown`;
    table.classList.toggle('empty', count === 0);
  };

  const sort = () => {
    const order = value('order');
    let sorted = rows;
    if (order === '@') {
      sorted = [...rows].sort((a, b) => (a.dataset.name < b.dataset.name ? -1 : 1));
    } else if (order) {
      const sign = order.startsWith('-') ? -1 : 1;
      const key = order.replace('-', '');
      const number = (row) => (key in row.dataset ? sign * Number(row.dataset[key]) : Infinity);
      sorted = [...rows].sort((a, b) => {
        const [x, y] = [number(a), number(b)];
        return x === y ? 0 : x - y;
      });
    }
    table.append(...sorted);
  };

  toolbar.addEventListener('input', (event) => {
    if (event.target.name === 'order') sort();
    else narrow();
  });
  const all = toolbar.querySelector('button.all');
  if (all) {
    all.addEventListener('click', () => {
      const open = all.getAttribute('aria-pressed') !== 'true';
      all.setAttribute('aria-pressed', String(open));
      all.textContent = open ? 'Close all' : 'Open all';
      rows.filter((row) => !row.hidden).forEach((row) => set(row, open));
    });
  }

  // A link may name a row.
  const named = () => {
    const row = rows.find((one) => one.id && `#${one.id}` === location.hash);
    if (!row) return;
    set(row, true);
    row.scrollIntoView({ block: 'start' });
  };
  addEventListener('hashchange', named);
  // The browser may have kept what was chosen before a reload.
  narrow();
  sort();
  named();
})();
