"use strict";
// Sorting: a head's button orders the body's rows by data-sort, else by text.
function key(row, column) {
  const cell = row.cells[column];
  const raw = "sort" in cell.dataset ? cell.dataset.sort : cell.textContent.trim();
  const text = raw.replaceAll("\u2212", "-");
  const number = text === "" || text === "-" ? NaN : parseFloat(text);
  return { text, number, blank: text === "" || text === "-" };
}
function compare(a, b) {
  if (Number.isNaN(a.number) || Number.isNaN(b.number)) return a.text.localeCompare(b.text);
  return a.number - b.number;
}
function sortBy(button) {
  const head = button.closest("th");
  const table = head.closest("table");
  const down = head.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row, head.cellIndex) }));
  // What has no number stays last in either order.
  rows.sort((a, b) => (a.key.blank - b.key.blank) || (down ? -1 : 1) * compare(a.key, b.key));
  table.tBodies[0].append(...rows.map((entry) => entry.row));
}
document.querySelectorAll("table.sortable thead button").forEach((button) => {
  button.addEventListener("click", () => sortBy(button));
});

// Filtering: claims by verdict, other tables by the words in a row.
const filters = [...document.querySelectorAll("[data-filter]")];
filters.forEach((button) => button.addEventListener("click", () => {
  filters.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
  document.querySelectorAll("#table-claims tr[data-verdict]").forEach((row) => {
    row.hidden = button.dataset.filter !== "" && row.dataset.verdict !== button.dataset.filter;
  });
}));
document.querySelectorAll("input[data-rows]").forEach((input) => {
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.getElementById(input.dataset.rows).tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
});
