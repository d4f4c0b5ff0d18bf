// What makes a page the same each time: called with {seed, clock, frozen, still}; null leaves a thing as it is.
// seed: of Math.random (mulberry32).  clock: ms since 1970 that a document's time starts at; frozen: and stays at.
// still: no animations, transitions or smooth scrolls (they end at once, with their events), and no blinking caret.
(({ seed, clock, frozen, still }) => {
  if (seed !== null) {
    let state = seed >>> 0;
    Math.random = function random() {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }
  if (clock !== null) {
    const Real = Date;
    const start = Real.now();
    const now = () => clock + (frozen ? 0 : Real.now() - start);
    globalThis.Date = class Date extends Real {
      constructor(...args) {
        args.length ? super(...args) : super(now());
      }
      static now() {
        return now();
      }
    };
    globalThis.Date = new Proxy(globalThis.Date, { apply: (target) => new target().toString() });
    Real.prototype.constructor = globalThis.Date;
  }
  if (still) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { scroll-behavior: auto !important; caret-animation: manual !important; }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const end = (animation) => {
      const { iterations } = animation.effect.getTiming();
      if (iterations === Infinity) animation.effect.updateTiming({ iterations: 1 });
      animation.finish();
    };
    const endAll = () => document.getAnimations().filter((a) => a.playState === "running").forEach(end);
    for (const type of ["transitionrun", "animationstart"]) addEventListener(type, endAll, true);
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...args) {
      const animation = animate.apply(this, args);
      queueMicrotask(() => { if (animation.playState === "running") end(animation); });
      return animation;
    };
  }
})
