// What is asked of a page from outside, by the functions at symbol guiforge.watch: how many milliseconds until the last
// of its short timers is due (who waits for it to rest waits for that), and whether it prevented what the last key would
// have done. Frames of the same site tell the page of theirs.
(() => {
  "use strict";
  const SHORT = 100, LATE = 5; // ms: longer ones are not waited for; one is over that was due so long ago
  const WATCH = Symbol.for("guiforge.watch");
  if (Object.hasOwn(globalThis, WATCH)) return; // a frame's first document gave its window on
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const now = performance.now.bind(performance), origin = performance.timeOrigin;
  let watch = { timers: new Map(), key: null }; // timers: number -> when it is due, in ms since 1970
  let prefix = "";
  try {
    if (top !== globalThis && top[WATCH]) {
      watch = top[WATCH];
      prefix = `${origin + now()} `;
    }
  } catch { /* another site's page */ }
  const { timers } = watch;
  globalThis.setTimeout = function setTimeout(handler, delay, ...args) {
    const number = set.call(this ?? globalThis, handler, delay, ...args);
    if (!(delay > SHORT)) timers.set(prefix + number, origin + now() + Math.max(0, Number(delay) || 0));
    return number;
  };
  globalThis.clearTimeout = function clearTimeout(number) {
    timers.delete(prefix + number);
    clear.call(this ?? globalThis, number);
  };
  addEventListener("keydown", (event) => { if (event.isTrusted) watch.key = event; }, true);
  watch.prevented ??= () => watch.key?.defaultPrevented ?? false;
  watch.due ??= () => {
    const at = origin + now();
    let last = 0;
    for (const [number, due] of timers) {
      if (due + LATE < at) timers.delete(number);
      else last = Math.max(last, due + LATE - at);
    }
    return last;
  };
  Object.defineProperty(globalThis, WATCH, { value: watch });
})();
