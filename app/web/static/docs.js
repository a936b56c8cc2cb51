// Starts Swagger UI. A file of its own: the page's policy allows no script in the page.
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
