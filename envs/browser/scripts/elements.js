// What a script needs to know of one element to work it by its keys: called on the element.
(() => {
  "use strict";
  return {
    // of a field: how it is filled
    field() {
      const kind = this.tagName === "INPUT" ? this.type : this.tagName.toLowerCase();
      return { kind, fillable: !this.disabled && !this.readOnly && (this.isContentEditable || this.tagName === "TEXTAREA"
        || (this.tagName === "INPUT" && !["checkbox", "radio", "button", "submit", "reset", "file", "image", "color",
          "range"].includes(this.type))) };
    },
    // of a checkbox or a radio button: whether it is on; null of something else
    checked() {
      const box = this.tagName === "LABEL" && this.control ? this.control : this;
      if (box.tagName === "INPUT" && ["checkbox", "radio"].includes(box.type)) return box.checked;
      const said = box.getAttribute("aria-checked");
      return said === null ? null : said === "true";
    },
    // of a list: for each wanted value or label the number of its option; of all, what can be chosen
    choices(wanted) {
      if (this.tagName !== "SELECT") return null;
      const all = [...this.options];
      const open = all.filter((one) => !one.hidden && !one.disabled && !one.parentElement.disabled);
      const found = wanted.map((want) => open.findIndex((one) => one.value === want || one.label === want));
      return { found, labels: open.map((one) => one.label), chosen: open.map((one) => one.selected),
        dropdown: !this.multiple && this.size <= 1, several: this.multiple };
    },
    option(number) {
      return [...this.options].filter((one) => !one.hidden && !one.disabled && !one.parentElement.disabled)[number];
    },
  };
})()
