// Every word a script shows comes from the page, already translated.

const source = document.getElementById('words');

export function word(name) {
  return source.dataset[name] ?? '';
}

export function counted(name, n) {
  return numbered(n === 1 ? `${name}One` : `${name}Other`, { n });
}

// Numbers as the language of the page writes them: "13,000 characters too long (limit 20,000)".
export function numbered(name, numbers) {
  const { lang } = document.documentElement;
  return word(name).replace(/\{(\w+)\}/g, (_, key) => numbers[key].toLocaleString(lang));
}

export function shape(name) {
  return document.getElementById(`shape-${name}`).content.firstElementChild.cloneNode(true);
}
