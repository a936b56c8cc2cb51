// Starts Swagger UI, dark if the reader's browser is. A file of its own: the page's policy allows no script in the page.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
// Operations whose group, method, path or summary contains the filter's text; Swagger UI compares it with names of groups only.
const opsFilter = (groups, phrase) => {
  const contains = (...texts) => texts.join(" ").toLowerCase().includes(phrase.toLowerCase());
  const matches = (each) => contains(each.get("method"), each.get("path"), each.getIn(["operation", "summary"]));
  return groups
    .map((group, tag) => (contains(tag) ? group : group.update("operations", (all) => all.filter(matches))))
    .filter((group) => group.get("operations").size);
};
// Groups begin closed, and are open while the filter has a text.
document.addEventListener("input", ({ target }) => {
  if (!target.matches(".operation-filter-input")) return;
  const { layoutActions, specSelectors } = window.ui.getSystem();
  specSelectors.taggedOperations().forEach((_, tag) => layoutActions.show(["operations-tag", tag], target.value !== ""));
});
window.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("swagger-ui");
  // Examples scroll in themselves, so that the keyboard has to reach them.
  new MutationObserver(() => {
    for (const example of place.querySelectorAll("pre.microlight:not([tabindex])")) example.tabIndex = 0;
  }).observe(place, { childList: true, subtree: true });
  window.ui = SwaggerUIBundle({
    url: place.dataset.document,
    dom_id: "#swagger-ui",
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 2,
    filter: true,
    persistAuthorization: false,
    showCommonExtensions: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [{ fn: { opsFilter } }],
  });
});
