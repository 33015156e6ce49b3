/* What pages with live numbers share: numbers as text, and charts in the colours of the page (Chart.js). */
"use strict";
var OrbCharts = (function () {
  var counts = new Intl.NumberFormat("en");
  var css = getComputedStyle(document.documentElement);

  function color(name) {
    return css.getPropertyValue(name).trim();
  }

  function plain(v) {
    return counts.format(v);
  }

  /* "0.4", "12", "1,234". */
  function rateText(v) {
    return v >= 99.95 ? counts.format(Math.round(v)) : String(Math.round(v * 10) / 10);
  }

  function bytesText(n) {
    var units = ["bytes", "kB", "MB", "GB", "TB"];
    var i = 0;
    while (n >= 999.5 && i + 1 < units.length) {
      n /= 1000;
      i++;
    }
    return (i === 0 || n >= 99.95 ? n.toFixed(0) : n.toFixed(1)) + " " + units[i];
  }

  function clockText(ms) {
    var d = new Date(ms);
    return ("0" + d.getHours()).slice(-2) + ":" + ("0" + d.getMinutes()).slice(-2) + ":" + ("0" + d.getSeconds()).slice(-2);
  }

  function axes(tick, isStacked) {
    var grid = { color: color("--line"), drawBorder: false };
    return {
      x: { grid: { display: false }, ticks: { color: color("--quiet"), maxTicksLimit: 5, maxRotation: 0, autoSkipPadding: 16 } },
      y: {
        beginAtZero: true,
        stacked: Boolean(isStacked),
        suggestedMax: tick === bytesText ? 1000 : 1, /* a line of zeros lies at the bottom */
        grid: grid,
        ticks: { color: color("--quiet"), maxTicksLimit: 5, precision: tick === plain ? 0 : undefined, callback: tick }
      }
    };
  }

  function options(tick, scales, hasLegend) {
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      scales: scales,
      plugins: {
        legend: { display: Boolean(hasLegend), labels: { color: color("--quiet"), boxWidth: 12, boxHeight: 12 } },
        tooltip: {
          callbacks: {
            label: function (item) {
              return item.dataset.label + ": " + tick(item.raw);
            }
          }
        }
      }
    };
  }

  /* lines: [{label, color}], color a name such as "--c1". */
  function line(id, tick, lines, hasLegend) {
    return new Chart(document.getElementById("chart-" + id), {
      type: "line",
      data: {
        labels: [],
        datasets: lines.map(function (l) {
          return {
            label: l.label,
            data: [],
            borderColor: color(l.color),
            backgroundColor: color(l.color + "-soft"),
            fill: true,
            borderWidth: 2,
            pointRadius: 0,
            pointHitRadius: 12,
            cubicInterpolationMode: "monotone"
          };
        })
      },
      options: options(tick, axes(tick), hasLegend)
    });
  }

  /* Areas on top of each other; its datasets are made by area(). */
  function stack(id, tick) {
    return new Chart(document.getElementById("chart-" + id), { type: "line", data: { labels: [], datasets: [] }, options: options(tick, axes(tick, true)) });
  }

  function area(label, colorName) {
    var c = color(colorName);
    return { label: label, data: [], borderColor: c, backgroundColor: c + "99", fill: true, borderWidth: 1, pointRadius: 0, pointHitRadius: 12, tension: 0 };
  }

  function bars(id, label, colorName) {
    return new Chart(document.getElementById("chart-" + id), {
      type: "bar",
      data: { labels: [], datasets: [{ label: label, data: [], backgroundColor: color(colorName), maxBarThickness: 36, borderRadius: 4 }] },
      options: options(plain, axes(plain))
    });
  }

  /* Takes the colours of the page as they are now, light or dark. */
  function restyle() {
    css = getComputedStyle(document.documentElement);
    Chart.defaults.font.family = css.getPropertyValue("font-family") || "sans-serif";
    Chart.defaults.font.size = 12;
  }

  return { plain: plain, rateText: rateText, bytesText: bytesText, clockText: clockText, line: line, stack: stack, area: area, bars: bars, restyle: restyle };
})();
