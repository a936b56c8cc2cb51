// Starts Swagger UI, dark if the reader's browser is. A file of its own: the page's policy allows no script in the page.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
window.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("swagger-ui");
  window.ui = SwaggerUIBundle({
    url: place.dataset.document,
    dom_id: "#swagger-ui",
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 2,
    filter: true,
    persistAuthorization: false,
    showCommonExtensions: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
  });
});
