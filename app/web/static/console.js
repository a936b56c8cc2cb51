// Interaction on pages that work without it: parts that change in place, filters, copies, live progress, charts.

// A link or form inside `data-swap` replaces that part of the page instead of loading a page; its address stays a
// permanent link to what is shown.
// What has the focus is found again by its id or name, its address, or its words.
function focusAgain(part, old) {
  if (!old || old === document.body) return;
  const href = old.getAttribute("href");
  const alike = [...part.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((each) => each.tagName === old.tagName);
  const same = (read) => { const wanted = read(old); return wanted && alike.find((each) => read(each) === wanted); };
  const next = same((each) => each.id) || same((each) => each.getAttribute("name")) || same((each) => each.dataset.item)
    || (href && same((each) => each.textContent.trim()));
  const target = next || part.querySelector("h2") || part;
  if (!next) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
async function swap(part, address) {
  part.setAttribute("aria-busy", "true");
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById(part.id);
    if (!answer.ok || !next) return false;
    part.replaceWith(document.adoptNode(next));
    enhance(next);
    focusAgain(next, focused);
    return true;
  } catch {
    return false;
  }
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-swap] a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin) return;
  const part = link.closest("[data-swap]");
  if (link.pathname !== location.pathname) return;
  event.preventDefault();
  const scroll = link.hash && link.hash !== `#${part.id}` ? link.hash : null;
  if (!(await swap(part, link.href))) { location.assign(link.href); return; }
  history.pushState({ swapped: part.id }, "", link.href);
  if (scroll) document.querySelector(scroll)?.scrollIntoView({ block: "nearest" });
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const part = form.closest("[data-swap]");
  if (!part || form.method !== "get") return;
  event.preventDefault();
  const address = new URL(form.action);
  const filled = [...new FormData(form)].filter(([, value]) => value !== "");
  address.search = new URLSearchParams(filled);
  if (!(await swap(part, address))) { form.submit(); return; }
  history.pushState({ swapped: part.id }, "", address);
});

window.addEventListener("popstate", () => location.reload());

// `data-filter="id"`: rows of that table that lack the text are hidden.
function filterRows(input) {
  const table = document.getElementById(input.dataset.filter);
  const count = input.parentElement.querySelector("[data-count]");
  const apply = () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    if (count) count.textContent = wanted ? `${shown} of ${table.tBodies[0].rows.length}` : "";
  };
  input.closest("[hidden]")?.removeAttribute("hidden");
  input.addEventListener("input", apply);
}

// A header of a table with `data-sort` sorts its rows; numbers, sizes and times by value.
function sortable(table) {
  // `data-value` is the number of a cell, and a moment is that of its `time`; else "85", "1.3 TiB", "12 %", "85 → 40" (what is after the arrow) are numbers.
  const value = (cell) => {
    const text = (cell.dataset.value ?? cell.querySelector("time")?.dateTime ?? cell.textContent).trim().split("→").at(-1).trim();
    const [, number, unit] = text.match(/^(-?[\d,]*\.?\d+)\s*(B|KiB|MiB|GiB|TiB|PiB|EiB|%|s|min|h|d)?(?:\/s)?(?=$|\s|[,(])/) ?? [];
    if (number === undefined) return text === "" || text === "–" ? -Infinity : text.toLowerCase();
    const power = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].indexOf(unit);
    const seconds = { s: 1, min: 60, h: 3600, d: 86400 }[unit] ?? 1;
    return Number(number.replaceAll(",", "")) * (power > 0 ? 1024 ** power : seconds);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [value(row.cells[column]), row]);
      const compare = ([a], [b]) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
      rows.sort((one, two) => (down ? -1 : 1) * compare(one, two));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}

// `data-copy="id"`: the text of that element goes to the clipboard; `data-copy-file="address"`: that of a file.
async function copied(text) {
  if (navigator.clipboard) { await navigator.clipboard.writeText(text); return true; }
  // A page over plain HTTP from another machine has no clipboard: the text is selected and copied, as by hand.
  const place = document.createElement("textarea");
  place.value = text;
  document.body.append(place);
  place.select();
  const isDone = document.execCommand("copy");
  place.remove();
  return isDone;
}
function copies(button) {
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const { copy, copyFile } = button.dataset;
    let isDone = false;
    try {
      const text = copyFile ? fetch(copyFile).then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status))) : document.getElementById(copy).textContent;
      isDone = await copied(await text);
    } catch (error) {
      console.info("nothing was copied", String(error));
    }
    button.textContent = isDone ? "Copied" : "Not copied";
    button.focus();
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}

function duration(seconds) {
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"]].find(([each]) => seconds >= 2 * each) ?? [1, "s"];
  return `${Math.ceil(seconds / size)} ${unit}`;
}
// `data-events="address"`: progress by server-sent events; empty, or if they end early, by loading that part again every
// few seconds. The page is loaded again at the end. `data-refreshes="id"`: a part that is as current as the progress.
const REFRESHED_AFTER_MS = 5000;
function follow(place) {
  const bar = place.querySelector("progress");
  const words = place.querySelector("[data-words]");
  const poll = async () => {
    if (await swap(place, location.href)) return; // what has replaced it follows on
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.ok) location.reload();
    else setTimeout(poll, REFRESHED_AFTER_MS);
  };
  if (!place.dataset.events) { setTimeout(poll, REFRESHED_AFTER_MS); return; }
  const source = new EventSource(place.dataset.events);
  let refreshed = 0;
  const refresh = () => {
    const part = document.getElementById(place.dataset.refreshes);
    if (!part || Date.now() - refreshed < REFRESHED_AFTER_MS) return;
    refreshed = Date.now();
    swap(part, location.href);
  };
  source.addEventListener("error", () => {
    words.textContent = "The connection is lost; trying again.";
    if (source.readyState === EventSource.CLOSED) setTimeout(poll, REFRESHED_AFTER_MS);
  });
  const show = (document_) => {
    const done = document_.done ?? document_.progress?.steps_done ?? 0;
    const all = document_.scenarios ?? document_.progress?.steps;
    bar.max = all ?? 1;
    bar.value = done;
    const rate = document_.rate_per_s ? `, ${Math.round(document_.rate_per_s).toLocaleString("en")} a second` : "";
    // The first chunks are slower than the rest, so the time left is shown once a tenth is done.
    const left = document_.seconds_left == null || done < all / 10 ? "" : `, ${duration(document_.seconds_left)} left`;
    const scored = document_.scenarios ? `: ${done.toLocaleString("en")} of ${all.toLocaleString("en")} scored` : "";
    const step = document_.progress?.step ? `${document_.progress.step}, step ${done + 1} of ${all}` : "";
    const state = document_.scenarios ? document_.state : ""; // the heading of a job is its state
    words.textContent = `${state}${document_.state === "queued" ? "" : `${scored}${step}${rate}${left}`}`;
    const heading = document.querySelector("h1[data-state]");
    if (heading) heading.textContent = `${heading.dataset.state}${heading.dataset.state ? document_.state : document_.state[0].toUpperCase() + document_.state.slice(1)}`;
    document.title = `${document_.state}${all ? ` ${done} of ${all}` : ""} – Rackplan`;
    if (done) refresh();
  };
  source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  for (const state of ["succeeded", "failed", "cancelled"]) {
    source.addEventListener(state, () => { source.close(); location.reload(); });
  }
}

// Files that are dropped on a text go to the form's field of files.
function dropped(text) {
  const field = document.getElementById(text.dataset.drop);
  for (const name of ["dragover", "drop"]) text.addEventListener(name, (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    if (name === "drop") field.files = event.dataTransfer.files;
  });
}

// `data-chart="address"`: the picture becomes a chart that can be zoomed, with tooltips.
let library;
function chartLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/static/charts.js";
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}
async function draw(figure) {
  const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const picture = figure.querySelector("picture");
  const width = Math.max(240, Math.floor(figure.clientWidth - 20));
  try {
    const [answer] = await Promise.all([fetch(`${figure.dataset.chart}&theme=${theme}`), chartLibrary()]);
    const spec = await answer.json();
    const place = document.createElement("div");
    figure.prepend(place);
    // Without `ast` expressions would be compiled, which the page's policy forbids; the same holds for style elements.
    await window.vegaEmbed(place, { ...spec, width }, {
      ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true },
    });
    picture.remove();
  } catch (error) {
    console.info("the chart stays a picture", String(error));
  }
}
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
});

// `data-preview="id"`: that part shows the request of the form as it is typed; `data-estimate="id"`: that one its plan.
function preview(form) {
  let waiting, asked;
  // Asked for by its address, so that typing is no request that changes something, of which the audit log has an entry.
  const ask = (path, typed) => fetch(`${form.action}${path}?${typed}`, { signal: asked.signal })
    .then((answer) => (answer.ok ? answer.text() : "")).catch(() => null);
  const estimate = async (typed) => {
    const place = document.getElementById(form.dataset.estimate);
    if (!place) return;
    place.setAttribute("aria-busy", "true");
    const words = await ask("/estimate", typed);
    if (words === null) return; // a later one is asked for
    place.textContent = words;
    place.removeAttribute("aria-busy");
  };
  const show = async (path) => {
    asked?.abort();
    asked = new AbortController();
    const typed = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "" && typeof value === "string"));
    if (String(typed).length > 6000) return;
    estimate(typed);
    const text = path === undefined ? "" : await ask(path, typed);
    if (!text) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.getElementById(form.dataset.preview);
    document.getElementById(next.id).replaceWith(document.adoptNode(next));
    enhance(next);
    for (const list of page.querySelectorAll("datalist")) document.getElementById(list.id)?.replaceWith(document.adoptNode(list));
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 400, "");
  });
  if (location.search) show();
}

// `data-rows="id"`: each line of that text is a row, a verb and what it is about; the last row is empty.
function rows(template) {
  const text = document.getElementById(template.dataset.rows);
  const place = document.createElement("div");
  const add = (line) => {
    const row = template.content.cloneNode(true).firstElementChild;
    const [verb, about] = row.children;
    const [first, ...rest] = line.split(" ");
    if (first && ![...verb.options].some((option) => option.value === first)) verb.add(new Option(first, first));
    verb.value = first;
    about.value = rest.join(" ");
    place.append(row);
    lists(row);
  };
  const lists = ({ children: [verb, about] }) => {
    const known = document.getElementById(`known-${text.id}-${verb.value}`);
    about.setAttribute("list", known?.id ?? "");
    about.hidden = !verb.value || (known?.hasAttribute("data-alone") && !about.value);
    about.placeholder = known?.options[0] ? `Such as ${known.options[0].value}` : "";
  };
  const begin = (row) => { // JSON begins with an example
    const [verb, about] = row.children;
    const example = document.getElementById(`known-${text.id}-${verb.value}`)?.options[0]?.value ?? "";
    about.value = /^[{[]/.test(example) ? example : "";
    lists(row);
  };
  const changed = (event) => {
    if (event.target.matches("select")) begin(event.target.parentElement);
    const parts = [...place.children].map(({ children: [verb, about] }) => verb.value && `${verb.value} ${about.value}`.trim());
    text.value = parts.filter(Boolean).join("\n");
    if (parts.at(-1)) add("");
  };
  text.value.split("\n").concat("").filter((line, at, all) => line.trim() || at === all.length - 1).forEach((line) => add(line.trim()));
  place.addEventListener("input", changed); // before the form's own listener, which reads the text
  text.after(place);
  text.hidden = true;
  text.parentElement.querySelector(".hint").hidden = true;
  place.querySelector("select").id = `${text.id}-first`;
  text.parentElement.querySelector("label").htmlFor = `${text.id}-first`;
}

// A menu closes on Escape and when something else is chosen.
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.activeElement?.closest(".menu[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".menu[open]")) if (!open.contains(event.target)) open.open = false;
});
// `/` goes to the filter of the page, or to the search if it has none; ⌘K and Ctrl-K go to the search.
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  const search = event.key === "k" && (event.metaKey || event.ctrlKey) && document.querySelector("[data-search]");
  const field = search || (event.key === "/" && !isTyping && document.querySelector("[data-filter], [data-search]"));
  const filter = field && !search && document.querySelector("[data-filter]");
  if (field) { event.preventDefault(); (filter || field).focus(); }
});
// A form that was sent shows that it waits, and is not sent twice.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  event.submitter?.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", () => document.querySelectorAll("button[aria-busy]").forEach((button) => button.removeAttribute("aria-busy")));

// `data-auto`: a form is sent when a value has changed; its button is for pages without a script.
function automatic(form) {
  form.querySelector("button")?.remove();
  form.addEventListener("change", () => form.requestSubmit());
}

// `data-selects="id"`: columns, rows and racks of a picture choose an option of that field, by pointer or keyboard.
const CHOICES = "[data-item], [data-rack]";
function optionOf(part, field) {
  const { item, rack } = part.dataset;
  const values = item === undefined ? [`rack:${rack}`] : [`broker:${item}`, `rack:${item}`];
  return [...field.options].find((option) => values.includes(option.value));
}
function selects(figure) {
  figure.querySelector("svg[role]")?.setAttribute("role", "group"); // an image has no buttons
  const field = () => document.getElementById(figure.dataset.selects);
  const choose = (event) => {
    const part = event.target.closest(CHOICES);
    if (part && !field() && figure.dataset.changes && (event.type === "click" || event.key === "Enter")) {
      const { item, rack } = part.dataset; // on the summary a column leads to its changes
      const address = new URL(figure.dataset.changes, location.href);
      address.searchParams.set("select", item === undefined || !/^\d+$/.test(item) ? `rack:${item ?? rack}` : `broker:${item}`);
      location.assign(address);
      return;
    }
    const option = part && field() && optionOf(part, field());
    if (!option || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    field().value = option.selected ? "" : option.value;
    field().form.requestSubmit();
  };
  for (const part of figure.querySelectorAll(".column, .rack[data-rack]")) {
    if (field() && !optionOf(part, field())) continue;
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", "0");
    part.setAttribute("aria-label", part.dataset.item ? `moves of ${part.dataset.item}` : `moves of rack ${part.dataset.rack}`);
  }
  figure.addEventListener("click", choose);
  figure.addEventListener("keydown", choose);
}
// `data-selected="broker:105"`: what the picture marks, after its part of the page has changed.
function marks(part) {
  const [kind, ...name] = part.dataset.selected.split(":");
  for (const each of document.querySelectorAll(`[data-selects] :is(${CHOICES})`)) {
    const { item, rack } = each.dataset;
    const isChosen = (kind === "rack" ? [item, rack] : kind === "broker" ? [item] : []).includes(name.join(":"));
    each.toggleAttribute("data-chosen", isChosen);
    if (each.hasAttribute("role")) each.setAttribute("aria-pressed", isChosen);
  }
}

function enhance(root) {
  const all = (selector) => [...(root.matches?.(selector) ? [root] : []), ...root.querySelectorAll(selector)];
  all("[data-filter]").forEach(filterRows);
  all("table[data-sort]").forEach(sortable);
  all("[data-copy], [data-copy-file]").forEach(copies);
  all("[data-events]").forEach(follow);
  all("[data-drop]").forEach(dropped);
  all("[data-preview]").forEach(preview);
  all("[data-auto]").forEach(automatic);
  all("[data-rows]").forEach(rows);
  all("[data-selects]").forEach(selects);
  all("[data-selected]").forEach(marks);
  all("[data-chart]").forEach((figure) => seen.observe(figure));
}
enhance(document);
