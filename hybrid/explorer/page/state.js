"use strict";
/* What is seen, as one object; the fragment of the address holds all of it, so that a link shows the same again. */
painleve.state = (() => {
  const LONGEST = 8000; /* characters of the fragment */
  const fresh = () => ({
    mechanism: "", text: null, pins: {}, parameters: {}, x: "", y: "", tab: "branches", t_end: "1", rule: "branch", law: "energetic", stiffness: "6", branch: "0", at: "",
  });
  const PLAIN = ["mechanism", "x", "y", "tab", "t_end", "rule", "law", "stiffness", "branch", "at"];

  const toBase64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const fromBase64 = (text) => new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0)));

  function written(state, token) {
    const parts = new URLSearchParams();
    const standard = fresh();
    if (token) parts.set("token", token);
    for (const name of PLAIN) if (state[name] !== standard[name]) parts.set(name, state[name]);
    for (const [name, value] of Object.entries(state.pins)) parts.set("pin." + name, value);
    for (const [name, value] of Object.entries(state.parameters)) parts.set("param." + name, value);
    let isWhole = true;
    if (state.text !== null) {
      const text = state.text.length <= LONGEST ? toBase64(state.text) : "";
      if (text && text.length + parts.toString().length <= LONGEST) parts.set("text", text);
      else isWhole = false;
    }
    return { fragment: parts.toString(), isWhole };
  }

  /* Whatever an address holds: what cannot be read is named, and its default taken. */
  function read(fragment) {
    const state = fresh(), ignored = [];
    let token = "";
    for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
      if (name === "token") token = value;
      else if (PLAIN.includes(name)) state[name] = value;
      else if (name.startsWith("pin.") && value.length < 400) state.pins[name.slice(4)] = value;
      else if (name.startsWith("param.") && value.length < 400) state.parameters[name.slice(6)] = value;
      else if (name === "text") {
        try { state.text = fromBase64(value); } catch (_) { ignored.push("text"); }
      } else ignored.push(name);
    }
    const known = { tab: ["branches", "automaton", "motion", "penalty", "declaration"], rule: ["branch", "penalty"], law: ["energetic", "newton", "poisson", "kelvin-voigt"] };
    for (const [name, values] of Object.entries(known)) {
      if (!values.includes(state[name])) { ignored.push(name + "=" + state[name]); state[name] = fresh()[name]; }
    }
    const K = Number(state.stiffness);
    if (!(K >= 2 && K <= 12)) { ignored.push("stiffness=" + state.stiffness); state.stiffness = "6"; }
    if (!(Number(state.t_end) > 0 && Number(state.t_end) <= 1e6)) { ignored.push("t_end=" + state.t_end); state.t_end = "1"; }
    if (!/^\d{1,3}$/.test(state.branch)) { ignored.push("branch=" + state.branch); state.branch = "0"; }
    if (state.at && !(Number(state.at) >= 0 && Number(state.at) <= 1e6)) { ignored.push("at=" + state.at); state.at = ""; }
    for (const name of ["x", "y"]) {
      if (state[name] && !/^[^=:]+=[^:]+:[^:]+$/.test(state[name])) { ignored.push(name + "=" + state[name]); state[name] = ""; }
    }
    return { state, token, ignored };
  }

  return { fresh, written, read };
})();
