// What mdBook leaves out for people who use the keyboard or a screen reader.
"use strict";

(() => {
  document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");

  // The first button of the menu bar is the label of a hidden box, which keys do not reach: a button
  // takes its place.
  const label = document.getElementById("mdbook-sidebar-toggle");
  const box = document.getElementById("mdbook-sidebar-toggle-anchor");
  if (label && box) {
    const button = document.createElement("button");
    for (const { name, value } of label.attributes) {
      if (name !== "for") button.setAttribute(name, value);
    }
    button.type = "button";
    button.append(...label.childNodes);
    button.addEventListener("click", () => box.click());
    box.addEventListener("change", () => button.setAttribute("aria-expanded", box.checked));
    label.replaceWith(button);
  }

  // An empty cell is no heading.
  for (const cell of document.querySelectorAll("th:empty")) {
    cell.replaceWith(document.createElement("td"));
  }

  // What can be scrolled can be scrolled by keys.
  function focusable() {
    for (const part of document.querySelectorAll("main pre > code, main .table-wrapper")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }
  focusable();
  addEventListener("load", focusable);
  addEventListener("resize", focusable);
})();
