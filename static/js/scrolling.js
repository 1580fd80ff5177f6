// Stays at the newest words unless the reader has scrolled up to read.

const NEAR_PX = 90;

export class Scrolling {
  constructor(log, below) {
    this.log = log;
    this.below = below;
    this.following = true;
    this.top = 0;
    log.addEventListener('scroll', () => this.noticed(), { passive: true });
    below.addEventListener('click', () => this.toEnd());
    new ResizeObserver(() => this.following && this.jump()).observe(log);
    new ResizeObserver(() => this.grown()).observe(log.firstElementChild);
    this.jump();
  }

  distance() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight;
  }

  // Only a scroll upwards is the reader's leaving: words that grow under a scroll of our own are not.
  noticed() {
    const top = this.log.scrollTop;
    if (this.distance() < NEAR_PX) {
      this.following = true;
      this.below.hidden = true;
    } else if (top < this.top) this.following = false;
    this.top = top;
  }

  grown() {
    if (this.following) this.jump();
  }

  // New messages have come: follow them, or say that they are there. What is no message only has the page grown.
  news() {
    if (this.following) this.jump();
    else this.below.hidden = false;
  }

  jump() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  toEnd() {
    this.following = true;
    this.below.hidden = true;
    this.jump();
  }

  // Runs change(), which puts things above, and keeps the words under the reader's eyes where they were.
  holding(change) {
    const fromEnd = this.log.scrollHeight - this.log.scrollTop;
    const following = this.following;
    this.following = false;
    change();
    this.log.scrollTop = this.log.scrollHeight - fromEnd;
    this.following = following && this.distance() < NEAR_PX;
  }
}
