// The page of the language model: fields that fit the kind of server, and a word while the model is asked.

const form = document.getElementById('model-form');

function showFields() {
  const kind = form.querySelector('input[name="kind"]:checked')?.value;
  for (const part of form.querySelectorAll('[data-for-kind]')) part.hidden = part.dataset.forKind !== kind;
}

if (form) {
  form.addEventListener('change', showFields);
  showFields();
}

for (const busy of document.querySelectorAll('form[data-busy]')) {
  busy.addEventListener('submit', () => {
    const words = busy.querySelector('[data-busy-words]');
    if (words) words.hidden = false;
    // After the form is sent: a disabled button would not be sent with it.
    setTimeout(() => {
      for (const button of busy.querySelectorAll('button')) button.disabled = true;
    });
  });
}

// A page that comes back from the browser's memory has no running request.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  for (const button of document.querySelectorAll('form[data-busy] button')) button.disabled = false;
});
