// Every word a script shows comes from the page, already translated.

const source = document.getElementById('words');

export function word(name) {
  return source.dataset[name] ?? '';
}

export function counted(name, n) {
  return word(n === 1 ? `${name}One` : `${name}Other`).replace('{n}', String(n));
}

export function numbered(name, n) {
  return word(name).replace('{n}', String(n));
}

export function shape(name) {
  return document.getElementById(`shape-${name}`).content.firstElementChild.cloneNode(true);
}
