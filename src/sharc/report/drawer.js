// The drawer: from a number down to its runs, parameters, commit and data.
const provenance = JSON.parse(document.getElementById("provenance-data").textContent);
const drawer = document.getElementById("drawer");
function make(tag, text, ...children) {
  const node = document.createElement(tag);
  if (text !== null) node.textContent = text;
  node.append(...children);
  return node;
}
function score(run, scenario) {
  const found = run.scores && run.scores[scenario];
  const show = (value) => (value === null || value === undefined ? "n/a" : value.toFixed(2));
  return found ? `${show(found.acc)} / ${show(found.bwt)}` : "–";
}
function runsTable(runs) {
  const heads = ["Seed", "Status", "Task-IL ACC / BWT", "Class-IL ACC / BWT", "Record", "Digest"];
  const head = make("tr", null, ...heads.map((text) => make("th", text)));
  const body = runs.map((run) => make("tr", null,
    make("td", String(run.seed)), make("td", run.message ? `${run.status}: ${run.message}` : run.status),
    make("td", score(run, "task_il")), make("td", score(run, "class_il")),
    make("td", null, make("code", run.record || "–")),
    make("td", null, make("code", run.digest ? run.digest.slice(0, 12) : "–"))));
  const table = make("table", null, make("thead", null, head), make("tbody", null, ...body));
  const scroll = make("div", null, table);
  scroll.className = "scroll";
  return scroll;
}
function block(title, content) {
  return [make("h3", title), make("pre", JSON.stringify(content, null, 2))];
}
function show(name) {
  const cell = provenance.cells[name];
  document.getElementById("drawer-title").textContent = name;
  const parts = [];
  if (cell) {
    const common = provenance.common;
    const data = (common.data || {})[cell.dataset];
    parts.push(make("h3", "Runs"), runsTable(cell.runs), ...block("Parameters", cell.params));
    if (cell.ledger) parts.push(...block("What it holds in memory (last seed)", cell.ledger));
    parts.push(make("h3", "Commit"), make("p", null, make("code", cell.commit || "unknown")));
    parts.push(...block(`Data: ${cell.dataset}`, data || "no digest recorded"));
  } else {
    parts.push(make("p", "This suite has no record of that cell."));
  }
  document.getElementById("drawer-body").replaceChildren(...parts);
  drawer.showModal();
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-cell]");
  if (button) show(button.dataset.cell);
  else if (event.target === drawer) drawer.close();
});
