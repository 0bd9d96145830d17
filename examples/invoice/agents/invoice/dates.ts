// Calendar dates as ISO text. They are counted in UTC, where every day has 24 hours, and none of them is "now".

const day = 24 * 60 * 60 * 1000;

export const addDays = (date: string, days: number) => isoDate(Date.parse(date) + days * day);

export const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / day;

export function endOfMonth(date: string): string {
  const last = new Date(date);
  return isoDate(last.setUTCMonth(last.getUTCMonth() + 1, 0));
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
