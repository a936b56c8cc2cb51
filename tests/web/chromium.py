"""A real browser before the service of the run."""

from shutil import which

from playwright.sync_api import Page

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")


class Visit:
    """A page of the service in a browser, with its requests and its console."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self._address = page, address
        self.requested: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(120_000)
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)

    def open(self, path: str, *, until: str) -> None:
        """Load a page and wait for an element."""
        self.page.goto(self._address + path)
        self.page.wait_for_selector(until)
        self.page.wait_for_load_state("networkidle")

    @property
    def elsewhere(self) -> list[str]:
        """Requests that left the service; a worker of the page itself has a `blob:` address."""
        return [url for url in self.requested if not url.removeprefix("blob:").startswith(self._address)]
