"use strict";
/* Numbers as people write them, and elements made without markup: text of a declaration is never read as HTML. */
painleve.numbers = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function short(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 2).replace("e+", "e").replace("-", "−").replace("e-", "e−");
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  }

  /* A typed expression as a number where it is a plain one, or a multiple of pi; null where only the server knows. */
  function plain(text) {
    const trimmed = String(text).trim().replace("−", "-");
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
    const fraction = /^([+-]?\d*\.?\d*)\s*\*?\s*(pi)?\s*(?:\/\s*(\d+\.?\d*))?$/.exec(trimmed);
    if (!fraction || (!fraction[2] && !fraction[3])) return null;
    const head = fraction[1] === "" || fraction[1] === "+" ? 1 : fraction[1] === "-" ? -1 : Number(fraction[1]);
    return (head * (fraction[2] ? Math.PI : 1)) / (fraction[3] ? Number(fraction[3]) : 1);
  }

  function element(name, attributes = {}, ...children) {
    const found = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") found.textContent = value;
      else if (value === true) found.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) found.setAttribute(key, value);
    }
    found.append(...children);
    return found;
  }

  function shape(name, attributes = {}, text = "") {
    const found = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    if (text) found.textContent = text;
    return found;
  }

  function ticks(low, high, count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((part) => part * power).find((part) => part >= rough * 0.999) || power;
    const found = [];
    for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9 * step; value += step) {
      found.push(Math.abs(value) < 1e-9 * step ? 0 : value);
    }
    return found;
  }

  function table(heads, rows) {
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col", text })));
    const body = rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { text }))));
    return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
  }

  return { short, plain, element, shape, ticks, table };
})();
