// A figure enlarged: the arrow keys go to the next, + and - (or the button) zoom, Escape closes.
const large = document.getElementById("large");
const picture = large.querySelector("img");
const zoom = large.querySelector("[data-zoom]");
const shown = [...document.querySelectorAll("figure[id]")];
let current = 0;
function enlarge(index) {
  current = (index + shown.length) % shown.length;
  const figure = shown[current];
  const source = figure.querySelector("img");
  const name = figure.id.replace("figure-", "");
  picture.src = source.getAttribute("src");
  picture.alt = source.alt;
  picture.className = figure.className;
  document.getElementById("large-title").textContent = figure.dataset.title;
  const data = figure.querySelector("figcaption a[download]");
  save("csv", name, data && data.href);
  save("svg", name, picture.src.startsWith("data:image/svg") && picture.src);
  magnify(false);
}
function save(kind, name, address) {
  const link = large.querySelector(`[data-save=${kind}]`);
  link.hidden = !address;
  link.download = `${name}.${kind}`;
  link.href = address || "";
}
function magnify(on) {
  zoom.setAttribute("aria-pressed", String(on));
  large.classList.toggle("zoomed", on);
}
shown.forEach((figure, index) => {
  figure.querySelector(".zoom").addEventListener("click", () => {
    enlarge(index);
    large.showModal();
  });
});
zoom.addEventListener("click", () => magnify(zoom.getAttribute("aria-pressed") === "false"));
large.querySelectorAll("[data-step]").forEach((button) => {
  button.addEventListener("click", () => enlarge(current + Number(button.dataset.step)));
});
large.addEventListener("keydown", (event) => {
  const canvas = event.target.closest(".canvas");
  const panning = canvas && canvas.scrollWidth > canvas.clientWidth;
  if (event.key === "ArrowRight" && !panning) enlarge(current + 1);
  else if (event.key === "ArrowLeft" && !panning) enlarge(current - 1);
  else if (event.key === "+") magnify(true);
  else if (event.key === "-") magnify(false);
});
large.addEventListener("click", (event) => { if (event.target === large) large.close(); });
