// Times as the reader's own clock and language write them.

export function localiseTimes(root) {
  const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });
  for (const element of root.querySelectorAll('time[data-local][datetime]')) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.textContent = clock.format(moment);
    element.title = full.format(moment);
  }
}
