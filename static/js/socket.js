// One socket that comes back: 0.5 s to 30 s with jitter, a ping every 25 s, given up as dead after 60 s of silence.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const PING_EVERY_MS = 25_000;
const SILENCE_LIMIT_MS = 60_000;
const CLOSED_FOR_GOOD = new Set([4401, 4403, 4404]);

export function waitBefore(attempt, random = Math.random()) {
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));
  return full * (0.5 + random / 2);
}

export class Socket {
  // onOpen() before the first frame, onFrame(frame), onState('online'|'offline'),
  // onGone(code) when there is no use in coming back, onRefused(attempt) when a try never got through.
  constructor(path, handlers) {
    this.url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;
    this.handlers = handlers;
    this.attempt = 0;
    this.socket = null;
    this.timer = null;
    this.gone = false;
    window.addEventListener('online', () => this.hurry());
    document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
    setInterval(() => this.watch(), PING_EVERY_MS);
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.heardAt = Date.now();
    socket.onopen = () => this.socket === socket && this.handlers.onOpen();
    socket.onmessage = (message) => this.socket === socket && this.hear(message.data);
    socket.onclose = (event) => this.socket === socket && this.lost(event.code);
  }

  // The server has answered as itself, not merely accepted: only now is the back-off forgotten.
  ready() {
    this.attempt = 0;
    this.handlers.onState('online');
  }

  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  hear(text) {
    this.heardAt = Date.now();
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return; // Not ours to answer: the next good frame carries on.
    }
    this.handlers.onFrame(frame);
  }

  lost(code) {
    this.socket = null;
    this.handlers.onState('offline');
    if (CLOSED_FOR_GOOD.has(code)) {
      this.gone = true;
      this.handlers.onGone(code);
      return;
    }
    this.timer = setTimeout(() => this.connect(), waitBefore(this.attempt));
    this.attempt += 1;
    this.handlers.onRefused(this.attempt);
  }

  hurry() {
    if (this.gone || this.timer === null) return;
    this.connect();
  }

  watch() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (Date.now() - this.heardAt < SILENCE_LIMIT_MS) {
      this.send({ type: 'ping' });
      return;
    }
    const dead = this.socket;
    this.lost(1006);
    dead.close();
  }
}
