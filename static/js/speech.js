// Reading aloud and dictation, by the browser alone; where it can do neither, their buttons stay hidden.

import { textOf } from './copy.js';
import { word } from './words.js';

const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
const canSpeak = 'speechSynthesis' in window;
const LANGUAGES = { en: 'en', zh: 'zh-CN' };

export class Speech {
  // onSay(words) for what a screen reader is told, onTrouble(words) where the browser refuses.
  constructor(language, composer, handlers) {
    this.language = LANGUAGES[language] ?? language;
    this.composer = composer;
    this.handlers = handlers;
    this.button = document.getElementById('dictate');
    this.button.hidden = !Recognition || !window.isSecureContext;
    this.button.addEventListener('click', () => (this.listening ? this.listening.stop() : this.listen()));
    window.addEventListener('pagehide', () => canSpeak && speechSynthesis.cancel());
  }

  show(root) {
    if (canSpeak) for (const button of root.querySelectorAll('[data-act="readAloud"][hidden]')) button.hidden = false;
  }

  readAloud(button) {
    const wasReading = button.getAttribute('aria-pressed') === 'true';
    speechSynthesis.cancel();
    if (wasReading) return;
    const utterance = new SpeechSynthesisUtterance(textOf(button.closest('[data-role]').querySelector('.bubble')));
    utterance.lang = this.language;
    button.setAttribute('aria-pressed', 'true');
    utterance.onend = utterance.onerror = () => button.setAttribute('aria-pressed', 'false');
    speechSynthesis.speak(utterance);
  }

  listen() {
    const before = this.composer.input.value.trimEnd();
    const listening = new Recognition();
    listening.lang = this.language;
    listening.interimResults = true;
    listening.continuous = true;
    listening.onresult = ({ results }) => {
      const heard = [...results].map((result) => result[0].transcript).join('');
      this.composer.write([before, heard.trim()].filter(Boolean).join(this.language.startsWith('zh') ? '' : ' '));
    };
    listening.onerror = ({ error }) => error !== 'aborted' && error !== 'no-speech' && this.handlers.onTrouble(word('notHeard'));
    listening.onend = () => this.set(null);
    this.set(listening);
    try {
      listening.start();
      this.handlers.onSay(word('listening'));
    } catch {
      this.set(null);
      this.handlers.onTrouble(word('notHeard'));
    }
  }

  set(listening) {
    this.listening = listening;
    this.button.setAttribute('aria-pressed', String(Boolean(listening)));
  }

  // What was heard has been sent.
  stop() {
    this.listening?.abort();
  }
}
