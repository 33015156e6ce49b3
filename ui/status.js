/* The status page, live: asks /api/v1/status every two seconds while the page can be seen, and draws. */
"use strict";
(function () {
  var STEP_MS = 2000;
  var SAMPLES = 900;
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var counts = new Intl.NumberFormat("en");
  var series = { at: [], pages_per_s: [], queued: [], hosts_backoff: [], index_docs: [], index_bytes: [] };
  var charts = {};
  var kindsNow = {};

  var bytesText = OrbCharts.bytesText;
  var plain = OrbCharts.plain;

  function durationText(s) {
    s = Math.max(0, Math.floor(s));
    if (s < 120) return s + " s";
    if (s < 7200) return Math.floor(s / 60) + " min";
    if (s < 172800) return Math.floor(s / 3600) + " h " + (Math.floor(s / 60) % 60) + " min";
    return Math.floor(s / 86400) + " days";
  }

  /* ---- numbers and tables ---- */

  function stateText(d) {
    var c = d.crawl;
    if (!c) return "No crawl has run here yet.";
    var ago = durationText((d.at - c.at) / 1000) + " ago";
    if (c.running) return c.pass > 1 ? "A crawl is running: it looks for changes." : "A crawl is running.";
    if (c.interrupted) return "The last crawl was interrupted " + ago + ". The same command goes on where it was.";
    return "No crawl is running. The last one ended " + ago + (c.queued ? " with pages left to visit." : ".");
  }

  function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  function showNumbers(d) {
    document.querySelectorAll("[data-key]").forEach(function (node) {
      var path = node.dataset.key.split(".");
      var v = (d[path[0]] || {})[path[1]] || 0;
      var unit = node.dataset.unit;
      setText(node, unit === "bytes" ? bytesText(v) : unit === "rate" ? v.toFixed(1) : counts.format(v));
    });
    setText(document.getElementById("state"), stateText(d));
  }

  function row(cells) {
    var tr = document.createElement("tr");
    cells.forEach(function (cell, i) {
      var td = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) td.scope = "row";
      if (cell.isNumber) td.className = "n";
      td.textContent = cell.text;
      tr.appendChild(td);
    });
    return tr;
  }

  function fill(id, rows) {
    document.getElementById(id).replaceChildren.apply(document.getElementById(id), rows);
  }

  function showTables(d) {
    var names = Object.keys(kindsNow);
    fill(
      "kinds",
      names.length
        ? names.map(function (k) {
            return row([{ text: k }, { text: counts.format(kindsNow[k]), isNumber: true }]);
          })
        : [row([{ text: "none" }, { text: "0", isNumber: true }])]
    );
    var hosts = d.hosts_backoff;
    document.getElementById("no-hosts").hidden = hosts.length > 0;
    document.getElementById("hosts-table").hidden = hosts.length === 0;
    fill(
      "hosts",
      hosts.map(function (h) {
        return row([
          { text: h.host },
          { text: h.reason },
          { text: counts.format(h.failures), isNumber: true },
          { text: counts.format(h.queued), isNumber: true },
          { text: h.given_up ? "next run" : h.wait_ms ? "in " + durationText(h.wait_ms / 1000) : "due", isNumber: true }
        ]);
      })
    );
  }

  /* ---- charts ---- */

  function makeCharts() {
    Object.keys(charts).forEach(function (k) {
      charts[k].destroy();
    });
    OrbCharts.restyle();
    charts.rate = OrbCharts.line("rate", plain, [{ label: "Pages a second", color: "--c1" }]);
    charts.queue = OrbCharts.line("queue", plain, [{ label: "Waiting URLs", color: "--c2" }]);
    charts.backoff = OrbCharts.line("backoff", plain, [{ label: "Hosts in back-off", color: "--c3" }]);
    charts.index = OrbCharts.line("index", bytesText, [{ label: "Size", color: "--c4" }]);
    charts.kinds = OrbCharts.bars("kinds", "Errors", "--c5");
  }

  function draw() {
    var labels = series.at.map(OrbCharts.clockText);
    [
      ["rate", "pages_per_s"],
      ["queue", "queued"],
      ["backoff", "hosts_backoff"],
      ["index", "index_bytes"]
    ].forEach(function (pair) {
      charts[pair[0]].data.labels = labels;
      charts[pair[0]].data.datasets[0].data = series[pair[1]];
      charts[pair[0]].update("none");
    });
    charts.kinds.data.labels = Object.keys(kindsNow);
    charts.kinds.data.datasets[0].data = Object.keys(kindsNow).map(function (k) {
      return kindsNow[k];
    });
    charts.kinds.update("none");
  }

  function addSample(d) {
    var c = d.crawl || {};
    var i = d.index || {};
    if (series.at.length && d.at <= series.at[series.at.length - 1]) return;
    series.at.push(d.at);
    series.pages_per_s.push(c.pages_per_s || 0);
    series.queued.push(c.queued || 0);
    series.hosts_backoff.push(c.hosts_backoff || 0);
    series.index_docs.push(i.docs || 0);
    series.index_bytes.push(i.bytes || 0);
    if (series.at.length > SAMPLES)
      Object.keys(series).forEach(function (k) {
        series[k].shift();
      });
  }

  /* ---- asking ---- */

  var timer = 0;
  var wantsHistory = true;

  function show(d) {
    if (d.history)
      Object.keys(series).forEach(function (k) {
        series[k] = d.history[k];
      });
    addSample(d);
    kindsNow = {};
    var kinds = (d.crawl && d.crawl.errors_by_kind) || {};
    Object.keys(kinds).forEach(function (k) {
      if (kinds[k]) kindsNow[k] = kinds[k];
    });
    showNumbers(d);
    showTables(d);
    draw();
  }

  function ask() {
    clearTimeout(timer);
    if (document.hidden) return;
    var stop = new AbortController();
    var limit = setTimeout(function () {
      stop.abort();
    }, 5000);
    fetch("/api/v1/status" + (wantsHistory ? "?history=1" : ""), { signal: stop.signal })
      .then(function (answer) {
        if (!answer.ok) throw new Error(String(answer.status));
        return answer.json();
      })
      .then(function (d) {
        show(d);
        wantsHistory = false;
        document.getElementById("state").classList.remove("lost");
      })
      .catch(function () {
        var state = document.getElementById("state");
        state.classList.add("lost");
        setText(state, "The server does not answer. These are the last numbers it gave.");
        wantsHistory = true;
      })
      .finally(function () {
        clearTimeout(limit);
        timer = setTimeout(ask, STEP_MS);
      });
  }

  document.getElementById("charts").hidden = false;
  document.getElementById("kinds-chart").hidden = false;
  makeCharts();
  dark.addEventListener("change", function () {
    makeCharts();
    draw();
  });
  document.addEventListener("visibilitychange", function () {
    if (!document.hidden) {
      wantsHistory = true;
      ask();
    }
  });
  ask();
})();
