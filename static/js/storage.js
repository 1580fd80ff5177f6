// Browser storage that may be blocked: then things are kept for as long as the page lives.

function area(name) {
  try {
    const store = window[name];
    store.getItem('');
    return store;
  } catch {
    return null;
  }
}

class Store {
  constructor(name) {
    this.store = area(name);
    this.spare = new Map();
  }

  get(key) {
    try {
      return this.store ? this.store.getItem(key) : this.spare.get(key) ?? null;
    } catch {
      return this.spare.get(key) ?? null;
    }
  }

  set(key, value) {
    this.spare.set(key, value);
    try {
      this.store?.setItem(key, value);
    } catch {
      this.store = null; // Full or blocked: from here on only the spare holds.
    }
  }
}

export const thisTab = new Store('sessionStorage');
export const thisBrowser = new Store('localStorage');

// crypto.randomUUID exists on https and localhost only; a home server is often plain http.
export function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
