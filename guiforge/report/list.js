"use strict";
const table = document.querySelector("#episodes"), body = table.tBodies[0], rows = [...body.rows];
const text = document.querySelector("#text"), status = document.querySelector("#status");
const application = document.querySelector("#application"), shown = document.querySelector("#shown");

function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const content = row.textContent.toLowerCase();
    const visible = (!status.value || row.dataset.status === status.value)
      && (!application.value || row.dataset.application === application.value)
      && words.every((word) => content.includes(word));
    row.hidden = !visible;
    count += visible;
  }
  shown.textContent = `${count} of ${rows.length}`;
}

function sort(header) {
  const up = header.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => row.cells[header.cellIndex].dataset.sort ?? row.cells[header.cellIndex].textContent.trim();
  const numeric = header.classList.contains("num");
  const compare = numeric ? (a, b) => Number(value(a)) - Number(value(b)) : (a, b) => value(a).localeCompare(value(b));
  rows.sort((a, b) => (up ? compare(a, b) : compare(b, a)));
  body.append(...rows);
}

for (const control of [text, status, application]) control.addEventListener("input", filter);
for (const button of table.tHead.querySelectorAll("button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}
filter();
