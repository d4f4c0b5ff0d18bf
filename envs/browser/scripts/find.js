// The showing elements that a selector matches, in the page, its same-site frames and open shadow roots, whose text
// the regular expression (or null) matches whole; of nested matches of a text the innermost.
(css, text) => {
  "use strict";
  const wanted = text === null ? null : new RegExp(`^(?:${text})$`, "su");
  const found = [];
  const search = (root, left, top, clip) => {
    for (const node of root.querySelectorAll("*")) {
      const box = node.getBoundingClientRect();
      const at = { left: box.left + left, top: box.top + top, right: box.right + left, bottom: box.bottom + top };
      if (node.shadowRoot) search(node.shadowRoot, left, top, clip);
      if (node.tagName === "IFRAME" && node.contentDocument) {
        const x = at.left + node.clientLeft, y = at.top + node.clientTop;
        search(node.contentDocument, x, y, {
          left: Math.max(clip.left, x), top: Math.max(clip.top, y),
          right: Math.min(clip.right, x + node.clientWidth), bottom: Math.min(clip.bottom, y + node.clientHeight),
        });
      }
      if (!node.matches(css)) continue;
      const said = (node.innerText ?? node.textContent ?? "").trim();
      const label = said || node.value || node.getAttribute("aria-label") || "";
      if (wanted && !wanted.test(String(label))) continue;
      const x0 = Math.max(at.left, clip.left), y0 = Math.max(at.top, clip.top);
      const x1 = Math.min(at.right, clip.right), y1 = Math.min(at.bottom, clip.bottom);
      if (x1 - x0 < 1 || y1 - y0 < 1 || !node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        continue;
      found.push({ node, box: {
        x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0),
        tag: node.tagName.toLowerCase(), text: said, value: String(node.value ?? ""),
      } });
    }
  };
  search(document, 0, 0, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  return found
    .filter(({ node }) => !wanted || !found.some((other) => other.node !== node && node.contains(other.node)))
    .map(({ box }) => box);
}
