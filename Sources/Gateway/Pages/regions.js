// F6 goes from part to part of the call: the tiles, the panel beside them, the bar.

const regions = [".stage", "#side", "#statistics", ".bar"];
const controls = "a[href], button, input, select, textarea, summary, [tabindex='0']";

/** F6 goes on, Shift+F6 back, each to where the focus was in that part. */
export function goByF6() {
  const last = new WeakMap(); // part → what had the focus in it
  document.addEventListener("keydown", (event) => {
    if (event.key !== "F6" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const parts = regions.map((each) => document.querySelector(each)).filter((part) => part && reachable(part).length > 0);
    if (parts.length === 0) return;
    event.preventDefault();
    const index = parts.findIndex((part) => part.contains(document.activeElement));
    if (index >= 0) last.set(parts[index], document.activeElement);
    const next = event.shiftKey ? parts.at(Math.max(index, 0) - 1) : parts[(index + 1) % parts.length];
    const before = last.get(next);
    const all = reachable(next);
    (all.includes(before) ? before : all[0]).focus();
  });
}

/** What can have the focus in a part, while it is shown. */
function reachable(part) {
  return [...part.querySelectorAll(controls)].filter((each) => !each.disabled && each.tabIndex >= 0 && each.getClientRects().length > 0);
}
