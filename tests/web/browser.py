"""As much of a browser as the pages need: request a page, read it, and send its form unchanged."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

import httpx
from fastapi import FastAPI

from app.web import pages

CONTROLS = ("input", "select", "textarea")


def words_of(macro: str, *values: object) -> str:
    """What a macro of `words.html` says."""
    return unescape(getattr(pages._templates.get_template("words.html").module, macro)(*values))


@dataclass
class Element:
    """An element with its attributes and the text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page's elements in the order of the document."""

    status: int
    headers: Mapping[str, str]
    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th", "dt", "dd"):
            self.handle_data(" ")  # the texts of adjacent cells are not one word
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in ("input", "link", "meta", "img", "br"):
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> Iterator[Element]:
        """Every element of that tag."""
        return (element for element in self.elements if element.tag == tag)

    @property
    def inline_scripts(self) -> list[Element]:
        """Scripts that the page has itself; scripts of files have an address."""
        return [script for script in self.all("script") if script.text or "src" not in script.attributes]

    def by_id(self, wanted: str) -> Element:
        """The one element with that id."""
        [found] = [element for element in self.elements if element.attributes.get("id") == wanted]
        return found

    @property
    def text(self) -> str:
        """Everything that is read on the page, its blanks made one."""
        return " ".join(next(self.all("body")).text.split())

    def form(self) -> dict[str, str]:
        """The fields that the page's form sends; boxes are not checked."""
        sent: dict[str, str] = {}
        selected = ""
        for element in self.elements:
            name = element.attributes.get("name", "")
            if element.tag == "select":
                selected = name
                sent.pop(name, None)  # an earlier form of the page may have a field of that name
            elif element.tag == "option":
                if "selected" in element.attributes or selected not in sent:
                    sent[selected] = element.attributes["value"]
            elif element.tag == "textarea":
                # The line break right after the tag is not part of the text.
                sent[name] = element.text.removeprefix("\n")
            elif element.tag == "input" and element.attributes.get("type") != "checkbox":
                sent[name] = element.attributes.get("value", "")
        return sent


@dataclass(frozen=True)
class Browser:
    """Asks an app, without a socket."""

    app: FastAPI

    def get(self, path: str) -> Page:
        """A page."""
        return _page(self.ask("GET", path))

    def post(self, path: str, typed: Mapping[str, str]) -> Page:
        """The page that answers a form."""
        return _page(self.ask("POST", path, data=dict(typed)))

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """The bare response; redirects are not followed."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            headers = {"Accept": "text/html, */*"}
            async with httpx.AsyncClient(
                transport=transport, base_url="http://rackplan.test", headers=headers
            ) as client:
                return await client.request(method, path, **request)

        return asyncio.run(send())


def _page(response: httpx.Response) -> Page:
    return Page(response.status_code, response.headers, response.text)
