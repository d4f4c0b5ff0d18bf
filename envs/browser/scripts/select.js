// Headless shell paints no popup of a <select>. This draws the list in the page's top layer instead: it opens and
// answers to the same clicks and keys, and the page gets the same `input` and `change` events.
(() => {
  "use strict";
  const ROWS = 20;
  let open = null; // {select, host, root, list, rows: [{row, index}], at}

  const close = () => {
    if (open) open.host.remove();
    open = null;
  };

  const pick = (index) => {
    const { select } = open;
    close();
    if (index === select.selectedIndex) return;
    select.selectedIndex = index;
    select.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };

  const mark = (at, scroll = true) => {
    open.at = at;
    open.rows.forEach(({ row }, i) => row.classList.toggle("on", i === at));
    if (scroll && open.rows[at]) open.rows[at].row.scrollIntoView({ block: "nearest" });
  };

  const show = (select) => {
    close();
    const host = document.createElement("select-popup");
    const root = host.attachShadow({ mode: "closed" });
    const box = select.getBoundingClientRect();
    const style = getComputedStyle(select);
    const below = innerHeight - box.bottom, above = box.top;
    const upwards = below < 120 && above > below;
    const space = Math.max(40, Math.min((upwards ? above : below) - 4, ROWS * 22));
    host.style.cssText = `all: initial; position: fixed; inset: auto; margin: 0; padding: 0; border: 0;
      left: ${Math.max(0, box.left)}px; ${upwards ? `bottom: ${innerHeight - box.top}px` : `top: ${box.bottom}px`};`;
    const list = document.createElement("div");
    list.style.cssText = `box-sizing: border-box; min-width: ${box.width}px; max-width: ${innerWidth}px;
      max-height: ${space}px; overflow: hidden auto; background: #fff; color: #000; border: 1px solid #767676;
      font: ${style.font}; white-space: pre; cursor: default; user-select: none;`;
    const sheet = new CSSStyleSheet(); // as nothing else, it is allowed under any content security policy
    sheet.replaceSync(`.row { padding: 2px 6px; min-height: 1.1em } .in { padding-left: 20px }
      .head { font-weight: bold; padding: 2px 6px } .off { color: #888 } .on { background: #1967d2; color: #fff }`);
    root.adoptedStyleSheets = [sheet];
    const rows = [];
    let group = null;
    for (const option of select.options) {
      if (option.hidden) continue;
      const parent = option.parentElement;
      const grouped = parent instanceof HTMLOptGroupElement;
      if (grouped && parent !== group) {
        const head = list.appendChild(document.createElement("div"));
        head.className = "head";
        head.textContent = parent.label;
      }
      group = grouped ? parent : null;
      const row = list.appendChild(document.createElement("div"));
      row.className = grouped ? "row in" : "row";
      row.textContent = option.label || option.text;
      if (option.disabled || (grouped && parent.disabled)) row.classList.add("off");
      else rows.push({ row, index: option.index });
    }
    root.append(list);
    const inside = select.getRootNode();
    (select.closest("dialog") || (inside instanceof ShadowRoot ? inside : document.documentElement)).append(host);
    host.popover = "manual";
    host.showPopover();
    open = { select, host, root, list, rows };
    mark(Math.max(0, rows.findIndex(({ index }) => index === select.selectedIndex)));
  };

  const takes = (node) =>
    node instanceof HTMLSelectElement && !node.disabled && !node.multiple && node.size <= 1 &&
    !node.matches(":disabled");

  const rowAt = (event) => {
    const found = open.root.elementFromPoint(event.clientX, event.clientY);
    return open.rows.findIndex(({ row }) => row === found);
  };

  const onMouse = (event) => {
    if (!event.isTrusted) return;
    const path = event.composedPath();
    if (open && path.includes(open.host)) {
      event.stopImmediatePropagation();
      if (event.type !== "wheel") event.preventDefault();
      const at = rowAt(event);
      if (at >= 0 && event.type === "mousemove") mark(at, false);
      if (at >= 0 && event.type === "click") pick(open.rows[at].index);
      return;
    }
    if (event.type === "wheel" || (event.type === "mousedown" && open)) {
      const was = open && open.select;
      close();
      if (was && path.includes(was)) {
        event.preventDefault();
        return;
      }
    }
    const select = path.find(takes);
    if (event.type === "mousedown" && event.button === 0 && select) {
      event.preventDefault();
      select.focus();
      show(select);
    }
  };
  for (const type of ["pointerdown", "pointerup", "mousedown", "mouseup", "click", "dblclick", "contextmenu",
    "mousemove", "wheel"])
    addEventListener(type, onMouse, { capture: true, passive: false });

  addEventListener("keydown", (event) => {
    if (!event.isTrusted) return;
    const select = event.composedPath().find(takes);
    if (!open) {
      const opens = event.key === " " || event.key === "F4" || event.key === "Enter" ||
        (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp"));
      if (select && opens && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        show(select);
      }
      return;
    }
    const last = open.rows.length - 1;
    const to = { ArrowDown: open.at + 1, ArrowUp: open.at - 1, PageDown: open.at + 10, PageUp: open.at - 10,
      Home: 0, End: last }[event.key];
    if (to !== undefined) mark(Math.max(0, Math.min(last, to)));
    else if (event.key === "Enter" || event.key === " ") { if (open.rows[open.at]) pick(open.rows[open.at].index); }
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") { close(); return; }
    else if (event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey) {
      const starts = ({ row }) => row.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase());
      const next = open.rows.findIndex((row, i) => i > open.at && starts(row));
      const at = next >= 0 ? next : open.rows.findIndex(starts);
      if (at >= 0) mark(at);
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  addEventListener("blur", (event) => { if (event.target === window) close(); }, true);
  addEventListener("resize", close, true);
  const showPicker = HTMLSelectElement.prototype.showPicker;
  HTMLSelectElement.prototype.showPicker = function () { takes(this) ? show(this) : showPicker.call(this); };
})();
