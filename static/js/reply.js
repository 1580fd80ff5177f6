// A reply that is coming in: the text known so far, and the deltas that arrived ahead of it.

export class Reply {
  constructor(text = '', seq = 0) {
    this.ahead = new Map();
    this.stale = false;
    this.restart(text, seq);
  }

  restart(text, seq) {
    this.text = text;
    this.seq = seq;
    return this.catchUp();
  }

  // Returns what the new piece adds to the text: '' when it was known, null when a piece before it is missing.
  take(delta, seq) {
    if (seq <= this.seq) return '';
    this.ahead.set(seq, delta);
    const added = this.catchUp();
    return added === '' && this.ahead.size > 0 ? null : added;
  }

  catchUp() {
    let added = '';
    for (const seq of this.ahead.keys()) if (seq <= this.seq) this.ahead.delete(seq);
    while (this.ahead.has(this.seq + 1)) {
      this.seq += 1;
      added += this.ahead.get(this.seq);
      this.ahead.delete(this.seq);
    }
    this.text += added;
    return added;
  }
}
