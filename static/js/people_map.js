// The map of people: one stop of the Tab key, arrow keys within; whoever is pointed at shows their lines and list entry.

const svg = document.querySelector('[data-testid="people-map"] svg');
const AHEAD = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function middleOf(person) {
  const { cx, cy } = person.querySelector('circle');
  return [cx.baseVal.value, cy.baseVal.value];
}

// The nearest one in that direction: what lies aside counts twice.
function nextFrom(person, [right, down]) {
  const [x, y] = middleOf(person);
  let nearest = null;
  let least = Infinity;
  for (const other of svg.querySelectorAll('.map__one')) {
    const [dx, dy] = [middleOf(other)[0] - x, middleOf(other)[1] - y];
    const ahead = dx * right + dy * down;
    const distance = ahead + 2 * Math.abs(dx * down) + 2 * Math.abs(dy * right);
    if (ahead > 1 && distance < least) [nearest, least] = [other, distance];
  }
  return nearest;
}

function point(key) {
  for (const line of svg.querySelectorAll('[data-of]')) {
    line.classList.toggle('is-theirs', line.dataset.of.split(' ').includes(key));
  }
  for (const row of document.querySelectorAll('.people__one')) row.classList.toggle('is-theirs', row.dataset.key === key);
}

function focusOn(person) {
  for (const one of svg.querySelectorAll('.map__one')) one.setAttribute('tabindex', one === person ? '0' : '-1');
  person.focus();
}

function pressed(event) {
  const person = event.target.closest('.map__one');
  if (!person) return;
  const people = [...svg.querySelectorAll('.map__one')];
  const next = { Home: people[0], End: people.at(-1) }[event.key] ?? (AHEAD[event.key] && nextFrom(person, AHEAD[event.key]));
  if (!next) return;
  event.preventDefault();
  focusOn(next);
}

if (svg) {
  svg.addEventListener('keydown', pressed);
  for (const [enter, leave] of [['pointerover', 'pointerout'], ['focusin', 'focusout']]) {
    svg.addEventListener(enter, (event) => point(event.target.closest('.map__one')?.dataset.key));
    svg.addEventListener(leave, () => point(undefined));
  }
}
