// The tree of the search as a tree: roles, one tab stop, arrow keys, and one panel at a time.  Nothing here reads or
// makes markup; without it the page is a list of links and all panels below one another.
"use strict";
(() => {
  const list = document.querySelector(".tree");
  if (!list) return;
  const rows = [...list.querySelectorAll("a.row")];
  const items = rows.map((row) => row.parentElement);
  const levels = items.map((item) => Number(item.dataset.level));
  const panels = rows.map((row) => document.getElementById(row.hash.slice(1)));
  const places = new Map(rows.map((row, at) => [row.hash, at]));
  const parents = levels.map((level, at) => {
    let up = at - 1;
    while (up >= 0 && levels[up] >= level) up--;
    return up;
  });
  const bears = (at) => at + 1 < rows.length && levels[at + 1] > levels[at];
  const isOpen = (at) => rows[at].getAttribute("aria-expanded") !== "false";
  let chosen = -1;

  function prepare() {
    document.documentElement.classList.add("live");
    list.setAttribute("role", "tree");
    const families = rows.map(() => []);
    families[-1] = [];
    parents.forEach((up, at) => families[up].push(at));
    rows.forEach((row, at) => {
      items[at].setAttribute("role", "none");
      row.setAttribute("role", "treeitem");
      row.setAttribute("aria-level", levels[at]);
      row.setAttribute("aria-selected", "false");
      row.tabIndex = -1;
      if (bears(at)) row.setAttribute("aria-expanded", "true");
      panels[at].hidden = true;
    });
    for (const family of [families[-1], ...families])
      family.forEach((at, place) => {
        rows[at].setAttribute("aria-posinset", place + 1);
        rows[at].setAttribute("aria-setsize", family.length);
      });
  }

  function choose(at) {
    if (chosen >= 0) {
      rows[chosen].setAttribute("aria-selected", "false");
      rows[chosen].tabIndex = -1;
      panels[chosen].hidden = true;
    }
    chosen = at;
    for (let up = parents[at]; up >= 0; up = parents[up]) if (!isOpen(up)) unfold(up, true);
    rows[at].setAttribute("aria-selected", "true");
    rows[at].tabIndex = 0;
    panels[at].hidden = false;
    reveal(at);
  }

  // scrolls the box of the tree alone, not the page
  function reveal(at) {
    const box = list.parentElement.getBoundingClientRect();
    const row = rows[at].getBoundingClientRect();
    if (row.top < box.top || row.bottom > box.bottom) list.parentElement.scrollTop += row.top - box.top - box.height / 2;
    const left = row.left - box.left;
    if (left < 0 || left > box.width / 2) list.parentElement.scrollLeft += left - box.width / 4;
  }

  function unfold(at, open) {
    rows[at].setAttribute("aria-expanded", String(open));
    const closed = [];
    for (let below = at + 1; below < rows.length && levels[below] > levels[at]; below++) {
      while (closed.length && levels[below] <= levels[closed[closed.length - 1]]) closed.pop();
      items[below].hidden = !open || closed.length > 0;
      if (open && bears(below) && !isOpen(below)) closed.push(below);
    }
    if (chosen >= 0 && items[chosen].hidden) choose(at);
  }

  function focus(at) {
    choose(at);
    rows[at].focus();
    history.replaceState(null, "", rows[at].hash);
  }

  function next(at, step) {
    let to = at + step;
    while (to >= 0 && to < rows.length && items[to].hidden) to += step;
    return to >= 0 && to < rows.length ? to : at;
  }

  function enter(at) {
    choose(at);
    panels[at].querySelector("h3").focus();
    panels[at].scrollIntoView({ block: "nearest" });
  }

  const keys = {
    ArrowDown: (at) => focus(next(at, 1)),
    ArrowUp: (at) => focus(next(at, -1)),
    ArrowRight: (at) => (bears(at) && !isOpen(at) ? unfold(at, true) : bears(at) && focus(at + 1)),
    ArrowLeft: (at) => (bears(at) && isOpen(at) ? unfold(at, false) : parents[at] >= 0 && focus(parents[at])),
    Home: () => focus(0),
    End: () => focus(next(rows.length, -1)),
    Enter: enter,
    " ": enter,
  };

  list.addEventListener("keydown", (event) => {
    const at = rows.indexOf(event.target.closest("a.row"));
    if (at < 0 || !keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key](at);
  });

  list.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const item = event.target.closest("li");
    const at = items.indexOf(item);
    if (at < 0) return;
    event.preventDefault();
    if (event.target.closest(".dot") && bears(at)) return unfold(at, !isOpen(at));
    focus(at);
    if (panels[at].getBoundingClientRect().top > window.innerHeight * 0.8) panels[at].scrollIntoView();
  });

  // a dot of the curve is named by its candidate: "2:3: 1.60x ..."
  document.addEventListener("click", (event) => {
    const dot = event.target.closest("#curve circle");
    const named = dot && /^(\d+):(\d+):/.exec(dot.textContent);
    const at = named ? places.get(`#c${named[1]}-${named[2]}`) : undefined;
    if (at !== undefined) location.hash = rows[at].hash;
  });

  function follow() {
    const at = places.get(location.hash);
    if (at === undefined) return false;
    choose(at);
    panels[at].scrollIntoView();
    return true;
  }

  prepare();
  const best = rows.findIndex((row) => row.classList.contains("best"));
  if (!follow()) choose(best >= 0 ? best : Math.min(1, rows.length - 1));
  window.addEventListener("hashchange", follow);
})();
