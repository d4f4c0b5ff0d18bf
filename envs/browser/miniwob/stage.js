// What a MiniWoB page is played with: a clock that env steps turn, and the episode's start, rest and result.
//
// The page's time stands still until it is told to pass: no timer, animation or date of the page depends on how long
// anybody takes. `guiforge.rest` lets what a page has begun (fades, delays, searches as you type) come to its end;
// `guiforge.pass` lets so many milliseconds go by. Both give the episode's result.
(() => {
  "use strict";
  const EPOCH = Date.UTC(2025, 0, 1), FRAME = 16;
  const NEAR = 500, LONGEST = 3000; // ms: what is due later than that is not waited for; how long rest takes at most
  const Real = Date;
  let now = EPOCH, last = 0;
  const timers = new Map(); // number -> {due, every, call}

  const add = (call, delay, every = 0) => {
    timers.set(++last, { due: now + delay, every, call });
    return last;
  };
  const timer = (repeats) => (handler, delay, ...args) => {
    const call = typeof handler === "function" ? () => handler(...args) : () => (0, eval)(handler);
    const ms = Math.max(1, Math.trunc(delay) || 0);
    return add(call, ms, repeats ? ms : 0);
  };
  const cancel = (number) => void timers.delete(Number(number));
  Object.assign(globalThis, {
    setTimeout: timer(false), setInterval: timer(true), clearTimeout: cancel, clearInterval: cancel,
    requestAnimationFrame: (call) => add(() => call(now - EPOCH), FRAME - ((now - EPOCH) % FRAME)),
    cancelAnimationFrame: cancel,
  });
  performance.now = () => now - EPOCH;
  globalThis.Date = new Proxy(class Date extends Real {
    constructor(...args) { args.length ? super(...args) : super(now); }
    static now() { return now; }
  }, { apply: () => new Real(now).toString() });
  Real.prototype.constructor = globalThis.Date;

  const next = () => {
    let first = null;
    for (const [number, { due }] of timers) if (!first || due < first.due) first = { number, due };
    return first;
  };
  const turn = async (until, near) => {
    for (let at = next(); at && at.due <= Math.min(until, now + near); at = next()) {
      const { every, call } = timers.get(at.number);
      now = at.due;
      if (every) timers.get(at.number).due = now + every;
      else timers.delete(at.number);
      try { call(); } catch (error) { console.error(error); }
      await null; // what the call left to promises
    }
  };

  const sheet = (rules) => {
    const made = new CSSStyleSheet();
    made.replaceSync(rules);
    document.adoptedStyleSheets.push(made);
    return made;
  };
  sheet("#reward-display, #click-canvas { display: none !important; }"); // it tells people of time and of rewards
  const blank = sheet("body { display: none !important; }");
  blank.disabled = true;
  let copied = false;
  for (const type of ["copy", "cut"]) addEventListener(type, () => { copied = true; }, true);

  let begun = null; // the episode that was started: {seed}
  const result = async () => {
    if (!begun) return null;
    for (const animation of document.getAnimations()) animation.finish();
    await Promise.all([...document.images].filter((image) => !image.complete).map(decode));
    const raw = WOB_RAW_REWARD_GLOBAL;
    return {
      done: WOB_DONE_GLOBAL, raw: Number.isFinite(raw) ? raw : null, reason: String(WOB_REWARD_REASON ?? ""), copied,
      moving: [...timers].some(([number]) => number !== core.EP_TIMER),
    };
  };
  const forget = () => { // where the last episode's mouse and keyboard left the page
    if (document.activeElement) document.activeElement.blur();
    const top = document.createElement("a"); // Tab goes on from where the focus last was
    top.tabIndex = 0;
    document.body.prepend(top);
    top.focus({ preventScroll: true });
    top.remove();
    document.querySelectorAll("*").forEach((node) => { if (node.scrollTop || node.scrollLeft) node.scrollTo(0, 0); });
  };

  const decoded = []; // kept, so that what they are drawn in has them at once
  const decode = async (image) => { await image.decode().catch(() => {}); decoded.push(image); };
  const guiforge = {
    async load() { // the document, and the images that its style may show sooner or later
      if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done));
      const found = new Set();
      for (const { cssRules, href } of document.styleSheets)
        for (const { cssText } of cssRules)
          for (const [, url] of cssText.matchAll(/url\("([^"]+)"\)/g)) found.add(new URL(url, href ?? location.href).href);
      await Promise.all([...found].map((src) => decode(Object.assign(new Image(), { src }))));
    },
    async clear() { // what is drawn upon a blank page does not depend on what was drawn before
      await turn(now + LONGEST, NEAR);
      blank.disabled = false;
    },
    start(seed) {
      blank.disabled = true;
      forget();
      now = EPOCH;
      core.cover_div.onclick = null; // it would start another episode
      core.cover_div.textContent = "DONE";
      Math.seedrandom(seed);
      core.EPISODE_MAX_TIME = 2 ** 31 - 1;
      core.startEpisodeReal();
      core.clearTimer();
      begun = { seed };
      copied = false;
      const words = core.getUtterance();
      return { utterance: words.utterance ?? words, fields: words.fields ?? {}, title: document.title };
    },
    async rest() {
      await turn(now + LONGEST, NEAR);
      return result();
    },
    async pass(ms) {
      const until = now + ms;
      await turn(until, Infinity);
      now = until;
      return result();
    },
  };
  Object.defineProperty(globalThis, "guiforge", { value: Object.freeze(guiforge) });
})();
