"""The size of `app` is counted as docs/size.md says, and held to it."""

import pytest

from tests import size

SOURCE = '''"""A docstring
of two lines."""

import os  # a comment


def f(a, b):
    """Another."""
    # a comment
    text = """not
a docstring"""
    return a if b and a else [c for c in text if c]
'''


def test_lines_of_code_are_neither_blank_nor_comments_nor_docstrings() -> None:
    assert size.of_source(SOURCE) == size.Size(lines=5, files=1)


@pytest.mark.parametrize(("statements", "long"), [(25, 0), (26, 1)])
def test_a_function_is_long_above_25_statements(statements: int, long: int) -> None:
    assert size.of_source("def f():\n" + "    a = 1\n" * statements).long_functions == long


@pytest.mark.parametrize(("branches", "branching"), [(14, 0), (15, 1)])
def test_a_function_branches_above_15(branches: int, branching: int) -> None:
    for branch in ("    if a: b = 1\n", "    a = 1 if b else 2\n", "    a = [b for b in c]\n", "    a = b and c\n"):
        assert size.of_source("def f():\n" + branch * branches).branching_functions == branching, branch


def test_app_grows_only_by_a_row_and_its_record_follows_when_it_shrinks() -> None:
    assert size.complaint(1_001, 1_000)
    assert size.complaint(1_000, 1_000) is None
    assert size.complaint(1_000 - size.SLACK, 1_000) is None
    assert size.complaint(1_000 - size.SLACK - 1, 1_000)


def test_the_record_is_read() -> None:
    assert size.recorded() > 10_000
