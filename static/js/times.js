// Times in the zone that the owner chose for this companion, as the pages of memory show them; elsewhere in the device's.

function chosenZone() {
  const timeZone = document.querySelector('[data-zone]:not(option)')?.dataset.zone;
  try {
    new Intl.DateTimeFormat(undefined, { timeZone });
    return timeZone;
  } catch {
    return undefined; // A zone that this browser does not know.
  }
}

export function localiseTimes(root) {
  const timeZone = chosenZone();
  const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZone });
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short', timeZone });
  for (const element of root.querySelectorAll('time[data-local][datetime]')) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.textContent = clock.format(moment);
    element.title = full.format(moment);
  }
}
