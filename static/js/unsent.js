// Lines that were written but not yet confirmed by the server. They survive a reload of the tab.

import { newUuid, thisTab } from './storage.js';

export class Unsent {
  constructor(persona) {
    this.key = `echovessel:unsent:${persona}`;
    this.lines = this.read();
  }

  read() {
    try {
      const lines = JSON.parse(thisTab.get(this.key) ?? '[]');
      return lines.filter((line) => line && line.client_id && typeof line.content === 'string');
    } catch {
      return [];
    }
  }

  keep() {
    thisTab.set(this.key, JSON.stringify(this.lines));
  }

  add(content, offTheRecord, replaces = null) {
    const line = { client_id: newUuid(), content, off_the_record: offTheRecord, replaces, refused: null };
    this.lines.push(line);
    this.keep();
    return line;
  }

  find(clientId) {
    return this.lines.find((line) => line.client_id === clientId);
  }

  drop(clientId) {
    this.lines = this.lines.filter((line) => line.client_id !== clientId);
    this.keep();
  }

  refuse(clientId, words) {
    const line = this.find(clientId);
    if (line) line.refused = words;
    this.keep();
    return line;
  }

  toSend() {
    return this.lines.filter((line) => line.refused === null);
  }
}
