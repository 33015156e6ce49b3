/* The dashboard, live. Parts of a page that change (data-live) are taken from the page itself, asked for again every few
 * seconds while it can be seen: the server makes and escapes them, here they only bring the old ones up to date, node by
 * node, so that focus, selection and open questions stay. Charts are drawn from the JSON API. */
"use strict";
(function () {
  var STEP_MS = 2000;
  var SAMPLES = 1800;
  /* A form that came back is shown at the address it was sent to; the page is another one. */
  var page = document.body.dataset.page;
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

  /* Somebody fills something in there. */
  function isInUse(node) {
    var active = document.activeElement;
    return active && node.contains(active) && active.matches("input, select, textarea");
  }

  function isSelected(node) {
    var s = document.getSelection();
    return s && !s.isCollapsed && s.containsNode(node, true);
  }

  function keyOf(node) {
    return node.nodeType === 1 ? node.dataset.key || node.id || "" : "";
  }

  function sameKind(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
  }

  function update(node, fresh) {
    if (node.nodeType !== 1) {
      if (node.data !== fresh.data) node.data = fresh.data;
      return;
    }
    /* A button that says "Copied" goes back by itself. */
    if (node.isEqualNode(fresh) || node.hasAttribute("data-copy")) return;
    Array.from(fresh.attributes).forEach(function (a) {
      if (node.getAttribute(a.name) !== a.value) node.setAttribute(a.name, a.value);
    });
    Array.from(node.attributes).forEach(function (a) {
      /* A question that somebody opened stays open. */
      if (!fresh.hasAttribute(a.name) && a.name !== "open") node.removeAttribute(a.name);
    });
    updateChildren(node, fresh);
  }

  /* Rows with a key are found again wherever they went. */
  function updateChildren(node, fresh) {
    var keyed = {};
    Array.from(node.childNodes).forEach(function (c) {
      if (keyOf(c)) keyed[keyOf(c)] = c;
    });
    var at = node.firstChild;
    Array.from(fresh.childNodes).forEach(function (want) {
      var key = keyOf(want);
      var have = key && keyed[key] && keyed[key].nodeName === want.nodeName ? keyed[key] : at && !keyOf(at) && sameKind(at, want) ? at : null;
      if (!have) {
        node.insertBefore(document.importNode(want, true), at);
        return;
      }
      if (have === at) at = at.nextSibling;
      else node.insertBefore(have, at);
      update(have, want);
    });
    while (at) {
      var next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  function swap(text) {
    var fresh = new DOMParser().parseFromString(text, "text/html");
    document.querySelectorAll("[data-live]").forEach(function (node) {
      var now = fresh.getElementById(node.id);
      if (now && !isInUse(node) && !isSelected(node)) update(node, now);
    });
  }

  /* ---- charts ---- */

  /* What is drawn: id, how a number is written, and the columns of the history with names and colours. */
  var PLANS = (typeof OrbCharts === "undefined" ? [] : [
    ["rate", OrbCharts.rateText, [["pages_per_s", "Pages a second", "--c1"]]],
    ["packages", OrbCharts.rateText, [["packages_per_min", "Packages a minute", "--c4"]]],
    ["bytes", OrbCharts.bytesText, [["crawled_per_s", "Crawled", "--c1"], ["sent_per_s", "Sent", "--c2"]]],
    ["queue", OrbCharts.plain, [["queue", "Waiting URLs", "--c2"]]],
    ["spool", OrbCharts.bytesText, [["spool_bytes", "Waiting at agents", "--c3"]]],
    ["there", OrbCharts.plain, [["there", "Agents here", "--c1"]]]
  ]).filter(function (p) {
    return document.getElementById("chart-" + p[0]) !== null;
  });
  var hasErrors = document.getElementById("chart-errors") !== null;
  var hasCharts = (PLANS.length > 0 || hasErrors) && typeof Chart !== "undefined";
  var agent = /^\/agents\/([^/]+)$/.exec(page);
  var charts = {};
  var series = null; /* history: lists of equal length */
  var kinds = []; /* of errors that are drawn */

  function makeCharts() {
    Object.keys(charts).forEach(function (id) {
      charts[id].destroy();
    });
    charts = {};
    OrbCharts.restyle();
    PLANS.forEach(function (p) {
      charts[p[0]] = OrbCharts.line(p[0], p[1], p[2].map(function (c) {
        return { label: c[1], color: c[2] };
      }));
    });
    kinds = [];
    if (hasErrors) charts.errors = OrbCharts.stack("errors", OrbCharts.rateText);
  }

  /* The table beside the chart names the kinds, and is its legend. */
  function kindRow(kind) {
    return document.querySelector('#errors tr[data-kind="' + kind + '"]');
  }

  function drawErrors(labels) {
    var by = series.errors_per_min_by_kind;
    var now = Object.keys(by).filter(function (k) {
      var row = kindRow(k);
      return row && row.parentNode === row.closest("table").tBodies[0];
    });
    if (now.join() !== kinds.join()) {
      kinds = now;
      charts.errors.data.datasets = kinds.map(function (k) {
        return OrbCharts.area(kindRow(k).cells[0].textContent, "--k-" + k);
      });
    }
    charts.errors.data.labels = labels;
    kinds.forEach(function (k, i) {
      charts.errors.data.datasets[i].data = by[k];
    });
    charts.errors.update("none");
    var sum = kinds.reduce(function (n, k) {
      return n + (by[k][by[k].length - 1] || 0);
    }, 0);
    showLast("errors", labels.length ? [OrbCharts.rateText(sum)] : []);
  }

  /* The newest numbers stand beside a chart's title; of several lines with their colours. */
  function showLast(id, texts, colors) {
    var out = document.getElementById("last-" + id);
    var unit = out.dataset.unit;
    while (out.children.length > texts.length) out.lastChild.remove();
    while (out.children.length < texts.length) out.appendChild(document.createElement("span"));
    texts.forEach(function (text, i) {
      var now = unit ? text + " " + unit : text;
      var part = out.children[i];
      part.className = texts.length > 1 ? "swatch " + colors[i].slice(2) : "";
      if (part.textContent !== now) part.textContent = now;
    });
  }

  function draw() {
    var n = series.at.length;
    var isShort = n && series.at[n - 1] - series.at[0] < 600000;
    var labels = series.at.map(function (ms) {
      return OrbCharts.clockText(ms).slice(0, isShort ? 8 : 5);
    });
    PLANS.forEach(function (p) {
      var chart = charts[p[0]];
      chart.data.labels = labels;
      p[2].forEach(function (c, i) {
        chart.data.datasets[i].data = series[c[0]];
      });
      chart.update("none");
      var last = p[2].map(function (c) {
        return (p[2].length > 1 ? c[1].toLowerCase() + " " : "") + p[1](series[c[0]][n - 1]);
      });
      var colors = p[2].map(function (c) {
        return c[2];
      });
      showLast(p[0], n ? last : [], colors);
    });
    if (hasErrors) drawErrors(labels);
  }

  function addSample(d) {
    var n = series.at.length;
    if (n && d.at <= series.at[n - 1]) return;
    var now = {
      at: d.at,
      pages_per_s: d.rates.pages_per_s,
      packages_per_min: d.rates.packages_per_min,
      crawled_per_s: d.rates.bytes_crawled_per_s,
      sent_per_s: d.rates.bytes_sent_per_s,
      queue: d.totals.queue,
      spool_bytes: d.totals.spool_bytes,
      there: d.agents.there
    };
    var by = series.errors_per_min_by_kind;
    var fresh = d.rates.errors_per_min_by_kind;
    Object.keys(fresh).forEach(function (k) {
      if (!by[k]) by[k] = new Array(n).fill(0);
    });
    Object.keys(by).forEach(function (k) {
      by[k].push(fresh[k] || 0);
      if (n >= SAMPLES) by[k].shift();
    });
    Object.keys(now).forEach(function (k) {
      series[k].push(now[k]);
      if (n >= SAMPLES) series[k].shift();
    });
  }

  function showCharts(d) {
    if (d.history) series = d.history;
    if (!agent) addSample(d);
    draw();
  }

  function chartsAddress() {
    if (agent) return "/api/v1/agents/" + agent[1] + "?history=1";
    return "/api/v1/overview" + (series ? "" : "?history=1");
  }

  /* ---- asking ---- */

  var timer = 0;
  var turns = 0;
  var hasParts = document.querySelector("[data-live]") !== null;

  function turn() {
    clearTimeout(timer);
    if (document.hidden) return;
    var jobs = [];
    if (hasParts && turns > 0)
      jobs.push(
        ask(page + location.search + (location.search ? "&" : "?") + "live=1", function (answer) {
          return answer.text();
        }).then(swap)
      );
    /* An agent's history grows every ten seconds only. */
    if (hasCharts && (!agent || !series || turns % 5 === 0))
      jobs.push(
        ask(chartsAddress(), function (answer) {
          return answer.json();
        }).then(showCharts)
      );
    turns++;
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
    turn();
  }

  /* ---- copying, and leaving questions ---- */

  function copied(button) {
    button.textContent = "Copied";
    setTimeout(function () {
      button.textContent = "Copy";
    }, 2000);
  }

  document.addEventListener("click", function (e) {
    var button = e.target.closest("[data-copy]");
    var from = button && document.getElementById(button.dataset.copy);
    if (!from) return;
    function select() {
      document.getSelection().selectAllChildren(from);
      button.textContent = "Selected: press Ctrl+C";
    }
    if (navigator.clipboard)
      navigator.clipboard.writeText(from.textContent).then(function () {
        copied(button);
      }, select);
    else select();
  });

  document.addEventListener("keydown", function (e) {
    var question = e.key === "Escape" && document.activeElement.closest("details.confirm[open]");
    if (!question) return;
    question.open = false;
    question.querySelector("summary").focus();
  });
})();
