"""`/guide`: the documentation as pages, with a search."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Response

from app.shipped import shipped
from app.web.pages import Pages, page

if TYPE_CHECKING:
    from markdown_it.token import Token

DOCS = shipped("docs")
START = "README"
MOST_HITS = 30
_NAME = re.compile(r"[a-z0-9-]+")
_LINK = re.compile(r"(?:\./)?(?P<name>[A-Za-z0-9-]+)\.md(?P<part>#.*)?")
_WORD = re.compile(r"\w+")
_NOT_SLUG = re.compile(r"[^\w\- ]")
_SCROLLS = re.compile("<(pre|table)>")
"""Scrolling elements are reached by the keyboard."""
_EXCERPT = 160


@dataclass(frozen=True, slots=True)
class GuideSection:
    """A part of a page, under one heading."""

    page: str
    page_title: str
    anchor: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page of the documentation. `html` is rendered from Markdown in which HTML is text."""

    name: str
    title: str
    html: str
    sections: Sequence[GuideSection]


def router() -> APIRouter:
    """The pages of the guide."""
    routes = Pages()

    @routes.get("/guide")
    def start(q: Annotated[str, Query(max_length=200)] = "") -> Response:
        pages = guide_pages()
        if q.strip():
            return page("guide_search.html", query=q, hits=search(q), pages=pages)
        return page("guide.html", shown=pages.get(START), pages=pages, name=START)

    @routes.get("/guide/{name}")
    def one(name: str) -> Response:
        pages = guide_pages()
        shown = pages.get(name)
        status = HTTPStatus.OK if shown else HTTPStatus.NOT_FOUND
        return page("guide.html", status=status, shown=shown, pages=pages, name=name[:100])

    return routes


@cache
def guide_pages() -> Mapping[str, GuidePage]:
    """All pages by name; empty if the documentation is not there."""
    found = sorted(path for path in DOCS.glob("*.md") if path.stem == START or _NAME.fullmatch(path.stem))
    return {path.stem: _read(path.stem, path.read_text(encoding="utf-8")) for path in found}


def search(query: str) -> list[tuple[GuideSection, str]]:
    """The sections that have every word of a search, with excerpts; those first whose headings have most of them."""
    words = [word.lower() for word in _WORD.findall(query)]
    hits = []
    for shown in guide_pages().values():
        for section in shown.sections:
            text, heading = section.text.lower(), f"{section.page_title} {section.heading}".lower()
            if words and all(word in text or word in heading for word in words):
                weight = sum(20 * (word in heading) + min(text.count(word), 10) for word in words)
                hits.append((weight, (section, _excerpt(section.text, words))))
    return [hit for _, hit in sorted(hits, key=lambda weighed: -weighed[0])[:MOST_HITS]]


def _read(name: str, text: str) -> GuidePage:
    from markdown_it import MarkdownIt  # noqa: PLC0415 — 60 modules, which the start does without

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    sections: list[GuideSection] = []
    anchors: Counter[str] = Counter()
    title, heading, anchor, written = name, "", "", [""]

    def end() -> None:
        sections.append(GuideSection(name, title, anchor, heading, " ".join(written)))

    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _plain(tokens[index + 1])
            title = words if token.tag == "h1" else title
            end()
            slug = _NOT_SLUG.sub("", words.lower()).replace(" ", "-")
            heading, anchor, written = words, slug if not anchors[slug] else f"{slug}-{anchors[slug]}", []
            anchors[slug] += 1
            token.attrSet("id", anchor)
        elif token.type == "inline":
            written.append(_plain(token))
            _point_at_pages(token.children or ())
        elif token.type in ("fence", "code_block"):
            written.append(token.content)
    end()
    html = _SCROLLS.sub(r'<\1 tabindex="0">', markdown.renderer.render(tokens, markdown.options, {}))
    return GuidePage(name, title, html, [section for section in sections if section.text.strip() or section.heading])


def _plain(token: "Token") -> str:
    return "".join(child.content if child.type != "softbreak" else " " for child in token.children or ())


def _point_at_pages(children: "Sequence[Token]") -> None:
    """Links between files become links between pages; those to other files of the source lead nowhere here."""
    for child in children:
        if child.type != "link_open":
            continue
        target = str(child.attrGet("href") or "")
        if link := _LINK.fullmatch(target):
            part = link["part"] or ""
            child.attrSet("href", f"/guide/{link['name']}{part}" if link["name"] != START else f"/guide{part}")
        elif not target.startswith(("#", "/", "http://", "https://")):
            child.attrs.pop("href", None)


def _excerpt(text: str, words: Sequence[str]) -> str:
    first = min((place for word in words if (place := text.lower().find(word)) >= 0), default=0)
    start = max(0, first - _EXCERPT // 3)
    cut = text[start : start + _EXCERPT].strip()
    return f"{'… ' if start else ''}{cut}{' …' if start + _EXCERPT < len(text) else ''}"
