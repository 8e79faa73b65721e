// Where the lines of a small chart go.

export const kept = 60; // readings, one in two seconds
export const [width, height] = [240, 56];

/**
 * A line from left to right through the readings that have a value; a gap where there is none.
 * @param {number} [span] ms that the chart is wide
 */
export function path(readings, kind, most, now, span = (kept - 1) * 2000) {
  let words = "";
  let isOpen = false;
  for (const reading of readings) {
    if (reading[kind] === undefined) {
      isOpen = false;
      continue;
    }
    const x = Math.max(0, width - ((now - reading.now) / span) * width);
    const y = height - 2 - (Math.min(reading[kind], most) / most) * (height - 4);
    words += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    isOpen = true;
  }
  return words;
}

/** The top of the chart: the next of 1, 2, 5, 10 … above all that is shown, and 100 kbit/s at least. @param {number} [least] instead of that */
export function top(readings, kinds, least = 100_000) {
  const most = Math.max(least, ...readings.flatMap((reading) => kinds.map((kind) => reading[kind] ?? 0)));
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((step) => step * power).find((each) => each >= most);
}
