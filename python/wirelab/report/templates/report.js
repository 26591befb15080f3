"use strict";
// Without it everything can be read. It shows the value of a mark or a term, switches series off, saves charts as SVG,
// opens what a link leads to, and opens for paper what matters.
(() => {
  const tip = document.getElementById("tip");
  const place = (words, x, y, top) => {
    tip.textContent = words;
    tip.hidden = !words;
    if (!words) return;
    const left = Math.min(x, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${y + tip.offsetHeight > innerHeight ? top - tip.offsetHeight - 12 : y}px`;
  };
  const about = (term) => document.getElementById(term.getAttribute("aria-describedby"))?.textContent;
  const said = (target) => {
    const node = target instanceof Element ? target.closest("[data-tip], .term") : null;
    return node && (node.dataset.tip ?? about(node));
  };
  document.addEventListener("pointermove", (event) => place(said(event.target), event.clientX + 14, event.clientY + 18, event.clientY));
  document.addEventListener("focusin", (event) => {
    const box = event.target.getBoundingClientRect();
    place(event.target.matches(".term") ? about(event.target) : "", box.left, box.bottom + 6, box.top);
  });
  document.addEventListener("focusout", () => place(""));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") place(""); });

  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let node = target; node; node = node.parentElement) if (node instanceof HTMLDetailsElement) node.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  // A second click on the same link changes no hash, and what it leads to may be closed again.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (link && link.hash === location.hash) reveal();
  });
  reveal();

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details[data-print]:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });

  const button = (label, text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    if (label) made.setAttribute("aria-label", label);
    made.append(...text);
    made.addEventListener("click", () => act(made));
    return made;
  };
  // A chart is read only where it can be hidden: the map's tiles have words on them.
  const marks = (key) => [...document.querySelectorAll(`.chart [data-series="${key}"]`)].filter((mark) => !mark.closest(".mark-rect"));
  const keys = [...document.querySelectorAll(".legend [data-key]")];
  const drawn = new Set(keys.map((item) => item.dataset.key).filter((key) => marks(key).length));
  for (const item of keys) {
    const key = item.dataset.key;
    if (!drawn.has(key)) continue;
    const made = button("", [...item.childNodes], (pressed) => {
      const on = pressed.getAttribute("aria-pressed") !== "true";
      for (const mark of marks(key)) mark.toggleAttribute("data-off", !on);
      for (const each of document.querySelectorAll(`.legend [data-key="${key}"] > button`)) each.setAttribute("aria-pressed", on);
    });
    made.setAttribute("aria-pressed", "true");
    made.title = "Show or hide in all charts";
    item.append(made);
  }

  // The colours of paper, also if the page is dark, for the file has to stand alone.
  const colors = () => {
    const found = {};
    for (const rule of document.styleSheets[0].cssRules) {
      if (rule.selectorText !== ":root") continue;
      for (const name of rule.style) if (name.startsWith("--")) found[name] = rule.style.getPropertyValue(name).trim();
    }
    return found;
  };
  const save = (chart) => {
    const shown = [...chart.querySelectorAll("svg")].find((svg) => svg.getClientRects().length);
    const copy = shown.cloneNode(true);
    for (const hidden of copy.querySelectorAll("[data-off]")) hidden.remove();
    for (const mark of copy.querySelectorAll("[data-tip]")) {
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = mark.dataset.tip;
      mark.removeAttribute("data-tip");
      mark.prepend(title);
    }
    const named = colors();
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "Roboto, sans-serif");
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = [...document.styleSheets[0].cssRules].find((rule) => rule instanceof CSSFontFaceRule)?.cssText ?? "";
    copy.prepend(style);
    copy.setAttribute("style", "background: #ffffff");
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => named[name] ?? "currentColor");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = `${chart.getAttribute("aria-label").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80)}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  for (const chart of document.querySelectorAll(".chart")) {
    const made = button(`Save as SVG: ${chart.getAttribute("aria-label")}`, ["Save as SVG"], () => save(chart));
    made.className = "save";
    chart.after(made);
  }
})();
