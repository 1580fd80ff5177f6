// The review desk by keys. They work while the pair has the focus, which it gets when the page opens; every one of them
// presses a button or follows a link that is there for everybody.

const desk = document.querySelector("[data-review]");
let isLeaving = false;

function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input:not([type=hidden]), textarea, select, [contenteditable]");
}

function wantedBy(key) {
  return [...desk.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(key));
}

function press(event) {
  if (event.repeat || event.isComposing || event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) {
    return;
  }
  const wanted = wantedBy(event.key.toLowerCase());
  if (wanted && !isLeaving) {
    event.preventDefault();
    wanted.click();
  }
}

if (desk) {
  desk.addEventListener("keydown", press);
  // One decision for one pair: a second press while the next page comes would be meant for that.
  desk.addEventListener("submit", (event) => {
    if (isLeaving) {
      event.preventDefault();
    }
    isLeaving = true;
  });
  window.addEventListener("pageshow", () => {
    isLeaving = false;
    desk.focus({ preventScroll: true });
  });
}
