// A picture is made small before it travels: a square of 512 pixels, drawn anew by the browser. Without a script the
// server takes the file as it is, and removes what a camera wrote beside the pixels.

const SIDE = 512;
const form = document.querySelector('[data-picture]');
const input = form.querySelector('[type=file]');
const trouble = document.getElementById('picture-error');

async function small(file) {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const size = Math.min(side, SIDE);
  const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size });
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  canvas.getContext('2d').drawImage(bitmap, left, top, side, side, 0, 0, size, size);
  const blob = await new Promise((done) => canvas.toBlob(done, 'image/webp', 0.9));
  return new File([blob], 'picture', { type: blob.type });
}

function say(text) {
  trouble.replaceChildren();
  if (text) trouble.append(Object.assign(document.createElement('li'), { textContent: text }));
}

input.addEventListener('change', async () => {
  const [file] = input.files;
  say('');
  if (!file) return;
  if (file.size > Number(form.dataset.maxBytes)) {
    input.value = '';
    say(form.dataset.tooBig);
    return;
  }
  const button = form.querySelector('[data-testid=save-picture]');
  button.disabled = true;
  try {
    const chosen = new DataTransfer();
    chosen.items.add(await small(file));
    input.files = chosen.files;
  } catch {
    // What this browser cannot draw is sent as it is; the server says what is wrong with it.
  }
  button.disabled = false;
});
