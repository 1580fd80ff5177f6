// Ideas that fill a field, and the time zone the browser knows.

const filled = new Map();

function fill(id, text) {
  const field = document.getElementById(id);
  if (!field || !text) return;
  const own = field.value.trim() && field.value !== filled.get(id);
  if (own && field.tagName !== 'TEXTAREA') return;
  field.value = own ? `${field.value.trimEnd()}\n${text}` : text;
  if (!own) filled.set(id, field.value);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

document.addEventListener('click', (event) => {
  const chip = event.target.closest('[data-fill]');
  if (!chip) return;
  fill(chip.dataset.fill, chip.dataset.text);
  fill(chip.dataset.also, chip.dataset.alsoText);
  const field = document.getElementById(chip.dataset.fill);
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
});

function guessTimezone(place) {
  const field = place.querySelector('input');
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const options = [...field.list.options];
  const current = options.find((option) => option.value === field.value)?.dataset.zone ?? field.value;
  if (!zone || (current && current !== 'UTC')) return;
  field.value = options.find((option) => option.dataset.zone === zone)?.value ?? zone;
}

document.querySelectorAll('[data-guess-timezone]').forEach(guessTimezone);
