// What of a page can be acted on and shows: its place in screen pixels, its tag, role, name and value; in the page, its
// same-site frames and open shadow roots. Of nested ones the outer, unless the inner is a control of its own; none that
// something else covers at its middle. nodes: takes their elements.
(most, nodes) => {
  "use strict";
  const CONTROLS = "a[href], area[href], button, input:not([type=hidden]), select, textarea, summary, option, video, audio, "
    + "[contenteditable=''], [contenteditable=true], [tabindex]:not([tabindex='-1']), [onclick], [role=button], [role=link], "
    + "[role=checkbox], [role=radio], [role=switch], [role=tab], [role=menuitem], [role=menuitemcheckbox], "
    + "[role=menuitemradio], [role=option], [role=combobox], [role=textbox], [role=searchbox], [role=slider], "
    + "[role=spinbutton], [role=treeitem], [role=gridcell]";
  const found = [];
  const named = (node) => {
    const label = node.getAttribute("aria-label") || node.labels?.[0]?.innerText
      || (node.tagName === "SELECT" ? "" : node.innerText) || node.placeholder
      || node.alt || node.title || node.querySelector("img[alt]")?.alt
      || (["button", "submit", "reset"].includes(node.type) ? node.value : "") || node.name || "";
    return String(label).replace(/\s+/g, " ").trim().slice(0, 100);
  };
  const hit = (root, node, x, y) => {
    const top = root.elementFromPoint(x, y);
    return top !== null && (node.contains(top) || top.contains(node) && top.shadowRoot !== null
      || [...(node.labels ?? [])].some((label) => label.contains(top)));
  };
  const search = (root, left, top, clip, outer) => {
    for (const node of root.children ?? []) {
      const box = node.getBoundingClientRect();
      const style = node.ownerDocument.defaultView.getComputedStyle(node);
      const control = node.matches(CONTROLS);
      const x0 = Math.max(box.left + left, clip.left), y0 = Math.max(box.top + top, clip.top);
      const x1 = Math.min(box.right + left, clip.right), y1 = Math.min(box.bottom + top, clip.bottom);
      const shows = x1 - x0 >= 3 && y1 - y0 >= 3
        && node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      const pointed = style.cursor === "pointer";
      let inside = outer;
      if (shows && (control || (pointed && !outer))
          && hit(node.getRootNode(), node, (x0 + x1) / 2 - left, (y0 + y1) / 2 - top)) {
        found.push({
          x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0),
          tag: node.tagName.toLowerCase(), role: node.getAttribute("role")
            ?? (node.tagName === "INPUT" ? node.type : node.isContentEditable ? "editable" : ""),
          name: named(node),
          value: ["checkbox", "radio"].includes(node.type) ? (node.checked ? "checked" : "")
            : node.type === "password" ? "•".repeat(node.value.length)
            : node.tagName === "SELECT" ? (node.selectedOptions[0]?.label ?? "")
            : ["INPUT", "TEXTAREA"].includes(node.tagName) ? node.value.slice(0, 100) : "",
        });
        nodes?.push(node);
        inside = true;
        if (found.length >= most) return;
      }
      if (node.shadowRoot) search(node.shadowRoot, left, top, clip, inside);
      if (node.tagName === "IFRAME" && node.contentDocument?.documentElement) {
        const x = box.left + left + node.clientLeft, y = box.top + top + node.clientTop;
        search(node.contentDocument, x, y, {
          left: Math.max(clip.left, x), top: Math.max(clip.top, y),
          right: Math.min(clip.right, x + node.clientWidth), bottom: Math.min(clip.bottom, y + node.clientHeight),
        }, false);
      }
      search(node, left, top, clip, inside || pointed && outer);
      if (found.length >= most) return;
    }
  };
  search(document, 0, 0, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }, false);
  return found;
}
