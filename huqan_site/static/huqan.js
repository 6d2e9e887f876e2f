/* Every page works without this. It decides nothing and sends nothing that the forms would not send. */
(() => {
  "use strict";
  const root = document.documentElement;
  const SLEEP = 800, POLL = 20_000;
  const one = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const seen = (element) => Boolean(element?.getClientRects().length);
  root.classList.add("js");

  /* A key pressed for something else must not meet a page that just appeared. */
  let awake = 0, fallAsleep = () => { awake = performance.now() + SLEEP; };

  /* What this browser keeps. */
  const stored = (name, value) => {
    try { if (value) localStorage.setItem(`huqan.${name}`, value); return localStorage.getItem(`huqan.${name}`); } catch { return value; }
  };

  function arrange(value) {
    root.toggleAttribute("data-stacked", stored("sides", value) === "stacked");
    root.toggleAttribute("data-pane", stored("pane") === "on");
    for (const button of all("button[data-pane]")) button.setAttribute("aria-pressed", root.hasAttribute("data-pane"));
    for (const button of all("[data-sides]")) button.setAttribute("aria-pressed", !root.hasAttribute("data-stacked"));
  }
  arrange();

  /* ---- The decision: a bar, then the confirm step ---- */
  const decision = () => one("[data-decide]");

  function hold() {
    const form = decision(), waiting = all("[data-waits]").length > 0;
    if (!form) return;
    for (const button of all('[data-open="approve"]:not(.button-off), button[value="approve"]', form)) button.disabled = waiting;
    one("[data-held]", form).hidden = !waiting;
  }

  function openStep(verdict, focus = true) {
    const form = decision();
    form.dataset.verdict = verdict;
    for (const button of all("button[name=verdict]", form)) button.disabled = button.value !== verdict;
    for (const field of all("[data-for] :is(input, textarea)", form)) field.disabled = !seen(field);
    const first = all("[data-step] :is(textarea, input)", form).find((field) => seen(field) && !field.value);
    if (focus) (first || one(`button[value="${verdict}"]`, form)).focus({ preventScroll: true });
  }

  function closeStep() {
    const form = decision();
    if (!form?.dataset.verdict) return;
    const opener = one(`[data-open="${form.dataset.verdict}"]`, form);
    delete form.dataset.verdict;
    for (const control of all("button[name=verdict], [data-for] :is(input, textarea)", form)) control.disabled = false;
    hold();
    fallAsleep();
    opener?.focus();
  }

  /* Without an answer rows may be old and a link is followed. No other page takes what was typed with it. */
  function answered(event) {
    const { target, serverResponse, shouldSwap, boosted, pathInfo, requestConfig } = event.detail, came = event.type === "htmx:beforeSwap";
    if (event.target.closest("[data-poll]")) for (const notice of all("[data-old]")) notice.hidden = came;
    if (boosted && !came) location = pathInfo.requestPath;
    const main = came && shouldSwap && target.id === "main", lost = !came || main && !serverResponse.includes('id="proposal"');
    if (main && !lost) target.textContent = ""; // quicker than by htmx
    if (!lost || !requestConfig?.elt.closest("[data-decide]")) return;
    event.detail.shouldSwap = one("[data-unsent]").hidden = false;
  }
  for (const name of ["htmx:beforeSwap", "htmx:responseError", "htmx:sendError"]) document.addEventListener(name, answered);

  const match = (input) => { one("output", input.parentElement).hidden = input.value !== input.dataset.match; };

  /* ---- Rows and changes ---- */
  const isCurrent = (row) => row.ariaCurrent;
  const mark = (rows, row) => { rows.find(isCurrent)?.removeAttribute("aria-current"); row.ariaCurrent = "true"; };
  function move(selector, step, focused) { // of ten thousand only those it passes are measured
    const rows = all(selector), at = rows.findIndex(isCurrent);
    let next = at < 0 && step < 0 ? rows.length : at, row;
    do row = rows[next += step]; while (row && !seen(row));
    if (!(row ||= rows[at])) return;
    mark(rows, row);
    (one(focused, row) || row).focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    fallAsleep();
    preview();
  }

  /* A link into the diff: from its row n and p go on. */
  const arrive = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row?.matches("[data-change]")) mark(all("[data-change]"), row);
  };
  const current = () => one('[data-row][aria-current="true"]');
  const preview = () => seen(one("#pane")) && current() && (one("#pane").textContent = "", window.htmx?.ajax("GET", `${one("a", current()).pathname}preview/`, "#pane"));

  /* A row decided meanwhile keeps its height and its mark, and who was on what goes is led to why. */
  document.addEventListener("htmx:oobBeforeSwap", ({ detail: { target, fragment } }) => {
    const at = document.activeElement;
    for (const heir of all("[tabindex]", fragment)) heir.autofocus = !at.id && target.contains(at);
    for (const row of all("[data-row]", fragment)) { row.ariaCurrent = target.ariaCurrent; row.style.height = `${target.offsetHeight}px`; }
  });

  function countSelected() {
    const chosen = all("[data-select]:checked").length;
    for (const bar of all("[data-bulk]")) { bar.classList.toggle("some", chosen > 0); one("[data-bulk-count]", bar).textContent = chosen; }
  }

  function foldAll(selector) {
    const folds = all(selector), open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  }

  /* ---- Keys ---- */
  const switchKeys = (on) => { document.body.dataset.keys = on ? "on" : "off"; for (const box of all("[data-keys-switch]")) box.checked = on; };
  const keys = {
    j: () => move("[data-row]", 1, "a"), k: () => move("[data-row]", -1, "a"),
    o: () => current() && one("a", current()).click(), Enter: () => keys.o(),
    x: () => current() && one("[data-select]", current())?.click(),
    n: () => move("[data-change]", 1, "summary"), p: () => move("[data-change]", -1, "summary"),
    e: () => foldAll("[data-unchanged]"), w: () => foldAll("[data-raw]"), "?": () => one("#keys")?.showModal(),
  };
  const decides = new Set(["a", "r", "c"]);
  const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return closeStep();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.body.dataset.keys === "off") return;
    if (typing(event.target) || one("#keys[open]") || event.repeat && decides.has(event.key)) return;
    if (event.key === "Enter" && event.target !== document.body) return;
    if (decides.has(event.key) && (performance.now() < awake || decision()?.dataset.verdict)) return;
    const act = keys[event.key], control = !act && one(`[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
    if (!act && !seen(control)) return;
    event.preventDefault();
    if (act) act();
    else if (control.matches("input")) control.focus();
    else control.click();
  });

  /* ---- Clicks and changes ---- */
  document.addEventListener("click", (event) => {
    const target = event.target.closest("a, label, [data-open], [data-cancel], [data-copy], [data-sides], button[data-pane], [data-row]");
    if (!target || target.matches("a, label")) return;
    if (target.dataset.open) openStep(target.dataset.open);
    else if (target.matches("[data-sides]")) arrange(root.hasAttribute("data-stacked") ? "beside" : "stacked");
    else if (target.dataset.pane) { stored("pane", stored("pane") === "on" ? "off" : "on"); arrange(); preview(); }
    else if (target.matches("[data-row]")) { mark(all("[data-row]"), target); preview(); }
    else if (target.dataset.copy) {
      navigator.clipboard?.writeText(document.getElementById(target.dataset.copy).textContent)
        .then(() => { target.textContent = target.dataset.done; });
    } else closeStep();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-keys-switch]")) switchKeys(event.target.checked);
    if (event.target.matches("[data-tell-switch]")) askToTell(event.target);
    if (event.target.matches("[data-select-all]")) for (const box of all("[data-select]", event.target.closest("tbody, table"))) box.checked = event.target.checked;
    if (event.target.matches("[data-select], [data-select-all]")) countSelected();
    if (event.target.matches("select")) event.target.closest("[data-autosubmit]")?.requestSubmit();
  });

  document.addEventListener("input", (event) => { if (event.target.matches("[data-match]")) match(event.target); });

  document.addEventListener("toggle", (event) => {
    if (event.target.matches("[data-waits]") && event.target.open) { delete event.target.dataset.waits; hold(); }
  }, true);

  /* ---- Told in a hidden tab to who asked: how much is new ---- */
  let told = "";
  const tells = () => stored("tell") === "on" && window.Notification?.permission === "granted";
  async function askToTell(box) {
    if (box.checked) await window.Notification?.requestPermission();
    stored("tell", box.checked ? "on" : "off");
    one("[data-tell-blocked]").hidden = !box.checked || tells();
    box.checked = tells();
  }
  async function tell(news) { // async: where only service workers may tell, only this fails
    if (news && news !== told && document.hidden && tells()) new Notification(told = news, { tag: "huqan" });
  }

  /* ---- Live: rows never move by themselves ---- */
  setInterval(() => {
    if (!document.hidden || tells()) for (const place of all("[data-poll]")) window.htmx?.trigger(place, "poll");
  }, POLL);

  /* ---- A page, or a part of it, appeared ---- */
  function appeared() {
    fallAsleep();
    for (const fold of all("[data-fold-narrow]")) { fold.open = !matchMedia(`(width < ${fold.dataset.foldNarrow}px)`).matches; delete fold.dataset.foldNarrow; }
    for (const long of all("[data-must-open]")) { delete long.dataset.mustOpen; long.dataset.waits = ""; long.open = false; }
    for (const input of all("[data-match]")) match(input);
    for (const box of all("[data-tell-switch]")) box.checked = tells();
    for (const step of [countSelected, hold, arrange, arrive]) step();
    if (decision()?.dataset.start) openStep(decision().dataset.start, false);
  }
  addEventListener("pageshow", fallAsleep);
  addEventListener("hashchange", arrive);
  document.addEventListener("DOMContentLoaded", appeared);
  document.addEventListener("htmx:afterSwap", (event) => event.target.closest?.("[data-poll]") ? (countSelected(), tell(one("[data-tell]")?.dataset.tell)) : appeared());
  addEventListener("beforeprint", () => { for (const fold of all("details:not(.menu, .me)")) fold.open = true; });
})();
