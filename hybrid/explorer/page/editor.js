"use strict";
/* The declaration, with the errors at their lines while it is typed. */
painleve.editor = (() => {
  const { element } = painleve.numbers;
  const text = document.getElementById("text"), lines = document.getElementById("lines"), list = document.getElementById("problems");
  const LONGEST = 200000; /* characters; a question to the server has 256 kB */
  let bad = new Map(), onChange = () => {}, timer = 0, last = "";

  function number() {
    const count = text.value.split("\n").length;
    lines.replaceChildren();
    for (let line = 1; line <= count; line++) {
      const mark = element("span", { text: String(line), class: bad.has(line) ? "bad" : false, title: bad.get(line) });
      lines.append(mark, "\n");
    }
    lines.scrollTop = text.scrollTop;
  }
  function problems(found) {
    bad = new Map(found.filter((item) => item.line).map((item) => [item.line, item.message]));
    list.replaceChildren(...found.map((item) => {
      const words = `${item.line ? `line ${item.line}${item.column ? `, column ${item.column}` : ""}: ` : ""}${item.field ? item.field + ": " : ""}${item.message}${item.hint ? "; " + item.hint : ""}`;
      const entry = element("li");
      if (!item.line) { entry.textContent = words; return entry; }
      const button = element("button", { type: "button", text: words });
      button.addEventListener("click", () => reach(item.line, item.column));
      entry.append(button);
      return entry;
    }));
    number();
  }
  function reach(line, column) {
    const before = text.value.split("\n").slice(0, line - 1).join("\n");
    const place = before.length + (line > 1 ? 1 : 0) + (column ? column - 1 : 0);
    text.focus();
    text.setSelectionRange(place, place);
  }

  text.addEventListener("input", () => {
    clearTimeout(timer);
    if (text.value.length > LONGEST) {
      list.replaceChildren(element("li", { text: `This has ${text.value.length} characters, more than the ${LONGEST} that can be looked at here, and was left out: save it as a file, and ask painleve check FILE.` }));
      text.value = last;
      return;
    }
    last = text.value;
    number();
    timer = setTimeout(() => onChange(text.value), 350);
  });
  text.addEventListener("scroll", () => { lines.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.getElementById("tab-declaration").focus();
  });

  return {
    set: (value) => { if (text.value !== value) text.value = value; last = value; number(); },
    problems,
    listen: (heard) => { onChange = heard; },
    readOnly: () => { text.readOnly = true; },
  };
})();
