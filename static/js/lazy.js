// What is loaded when it is first asked for: a page weighs less before its first message.

export class Lazy {
  // `load` gives the object, once.
  constructor(load) {
    this.load = load;
    this.loaded = null;
  }

  // use(object) as soon as it is there, or without() where it cannot be loaded: then the next press tries again.
  async with(use, without = () => null) {
    this.loading ??= this.load();
    try {
      this.loaded = await this.loading;
    } catch {
      this.loading = null;
      return without();
    }
    return use(this.loaded);
  }
}

// The dialog of forgetting; every link that says so opens its preview in it.
export function forgetDialog(handlers) {
  const dialog = new Lazy(async () => new (await import('./dialog.js')).ForgetDialog(document.getElementById('dialog'), handlers));
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-dialog]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    openIn(dialog, link.href, link);
  });
  return dialog;
}

export function openIn(dialog, url, opener) {
  return dialog.with((one) => one.open(url, opener), () => location.assign(url));
}
