/* The dashboard, live. Parts of a page that change (data-live) are taken from the page itself, asked for again every few
 * seconds while it can be seen: the server makes and escapes them, here they only take the place of the old ones. Charts
 * are drawn from /api/v1/overview. */
"use strict";
(function () {
  var STEP_MS = 2000;
  var SAMPLES = 1800;
  var lost = document.getElementById("lost");

  function say(text) {
    if (lost && lost.textContent !== text) lost.textContent = text;
  }

  function ask(address, read) {
    var stop = new AbortController();
    var limit = setTimeout(function () {
      stop.abort();
    }, 5000);
    return fetch(address, { signal: stop.signal, credentials: "same-origin" })
      .then(function (answer) {
        /* Logged out: the page itself knows where to go. */
        if (answer.status === 401 || (answer.redirected && new URL(answer.url).pathname === "/login")) {
          location.reload();
          throw new Error("login");
        }
        if (!answer.ok) throw new Error(String(answer.status));
        return read(answer);
      })
      .finally(function () {
        clearTimeout(limit);
      });
  }

  /* ---- parts of the page ---- */

  /* Somebody is using it: a field has the focus, or a question is open. */
  function isInUse(node) {
    return (node.contains(document.activeElement) && document.activeElement !== document.body) || node.querySelector("details[open]") !== null;
  }

  function isSelected(node) {
    var s = document.getSelection();
    return s && !s.isCollapsed && node.contains(s.anchorNode);
  }

  function swap(text) {
    var fresh = new DOMParser().parseFromString(text, "text/html");
    document.querySelectorAll("[data-live]").forEach(function (node) {
      var now = fresh.getElementById(node.id);
      if (!now || isInUse(node) || isSelected(node) || now.isEqualNode(node)) return;
      node.replaceChildren.apply(node, Array.from(now.childNodes));
    });
  }

  /* ---- charts ---- */

  var charts = null;
  var series = null;
  var columns = ["at", "pages_per_s", "packages_per_min", "queue", "crawled_per_s", "sent_per_s", "errors_per_min", "there"];
  var drawn = [
    ["rate", ["pages_per_s"]],
    ["packages", ["packages_per_min"]],
    ["queue", ["queue"]],
    ["bytes", ["crawled_per_s", "sent_per_s"]],
    ["errors", ["errors_per_min"]],
    ["there", ["there"]]
  ];

  function makeCharts() {
    if (charts)
      Object.keys(charts).forEach(function (k) {
        charts[k].destroy();
      });
    OrbCharts.restyle();
    charts = {
      rate: OrbCharts.line("rate", OrbCharts.plain, [{ label: "Pages a second", color: "--c1" }]),
      packages: OrbCharts.line("packages", OrbCharts.plain, [{ label: "Packages a minute", color: "--c4" }]),
      queue: OrbCharts.line("queue", OrbCharts.plain, [{ label: "Waiting URLs", color: "--c2" }]),
      bytes: OrbCharts.line("bytes", OrbCharts.bytesText, [
        { label: "Crawled", color: "--c1" },
        { label: "Sent", color: "--c2" }
      ]),
      errors: OrbCharts.line("errors", OrbCharts.plain, [{ label: "Failed requests a minute", color: "--c3" }]),
      there: OrbCharts.line("there", OrbCharts.plain, [{ label: "Agents here", color: "--c1" }])
    };
  }

  function draw() {
    var isShort = series.at.length && series.at[series.at.length - 1] - series.at[0] < 600000;
    var labels = series.at.map(function (ms) {
      return OrbCharts.clockText(ms).slice(0, isShort ? 8 : 5);
    });
    drawn.forEach(function (pair) {
      var chart = charts[pair[0]];
      chart.data.labels = labels;
      pair[1].forEach(function (column, i) {
        chart.data.datasets[i].data = series[column];
      });
      chart.update("none");
    });
  }

  function addSample(d) {
    var last = series.at[series.at.length - 1];
    if (last !== undefined && d.at <= last) return;
    var now = {
      at: d.at,
      pages_per_s: d.rates.pages_per_s,
      packages_per_min: d.rates.packages_per_min,
      queue: d.totals.queue,
      crawled_per_s: d.rates.bytes_crawled_per_s,
      sent_per_s: d.rates.bytes_sent_per_s,
      errors_per_min: d.rates.errors_per_min,
      there: d.agents.there
    };
    columns.forEach(function (k) {
      series[k].push(now[k]);
      if (series[k].length > SAMPLES) series[k].shift();
    });
  }

  function showCharts(d) {
    if (d.history) {
      series = {};
      columns.forEach(function (k) {
        series[k] = d.history[k];
      });
    }
    addSample(d);
    draw();
  }

  /* ---- asking ---- */

  var timer = 0;
  var hasCharts = document.getElementById("charts") !== null && typeof Chart !== "undefined";
  var hasParts = document.querySelector("[data-live]") !== null;

  function turn() {
    clearTimeout(timer);
    if (document.hidden) return;
    var jobs = [];
    if (hasParts)
      jobs.push(
        ask(location.pathname + location.search, function (answer) {
          return answer.text();
        }).then(swap)
      );
    if (hasCharts)
      jobs.push(
        ask("/api/v1/overview" + (series ? "" : "?history=1"), function (answer) {
          return answer.json();
        }).then(showCharts)
      );
    Promise.all(jobs)
      .then(function () {
        say("");
      })
      .catch(function () {
        say("The coordinator does not answer. This is what it said last.");
        series = null;
      })
      .finally(function () {
        timer = setTimeout(turn, STEP_MS);
      });
  }

  if (hasCharts) {
    document.getElementById("charts").hidden = false;
    makeCharts();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
      makeCharts();
      if (series) draw();
    });
  }
  if (hasParts || hasCharts) {
    document.addEventListener("visibilitychange", function () {
      if (!document.hidden) {
        series = null;
        turn();
      }
    });
    if (hasCharts) turn();
    else timer = setTimeout(turn, STEP_MS);
  }

  /* ---- copying ---- */

  document.querySelectorAll("[data-copy]").forEach(function (button) {
    var from = document.getElementById(button.dataset.copy);
    if (!from) return;
    button.hidden = false;
    button.addEventListener("click", function () {
      function done() {
        button.textContent = "Copied";
        setTimeout(function () {
          button.textContent = "Copy";
        }, 2000);
      }
      function select() {
        document.getSelection().selectAllChildren(from);
      }
      if (navigator.clipboard) navigator.clipboard.writeText(from.textContent).then(done, select);
      else select();
    });
  });
})();
