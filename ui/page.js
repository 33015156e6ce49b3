/* On every page: "/" goes to the search box, Escape leaves it, and a search that takes a moment says so. */
"use strict";
(function () {
  var box = document.getElementById("q");
  if (!box) return;

  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    var at = document.activeElement;
    var isTyping = at && (at.tagName === "INPUT" || at.tagName === "TEXTAREA" || at.isContentEditable);
    if (e.key === "/" && !isTyping) {
      e.preventDefault();
      box.focus();
      box.select();
    } else if (e.key === "Escape" && at === box) {
      box.blur();
    }
  });

  var form = box.form;
  form.addEventListener("submit", function (e) {
    if (box.value.trim() === "") {
      e.preventDefault();
      box.focus();
      return;
    }
    form.setAttribute("aria-busy", "true");
  });
  /* Coming back with the back button shows the page as it was left. */
  window.addEventListener("pageshow", function () {
    form.removeAttribute("aria-busy");
  });
})();
