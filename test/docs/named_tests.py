#!/usr/bin/env python3
"""The tests that tables of Markdown name are there, and are run.

    named_tests.py SOURCE PAGE...

A test is `FILE` or `FILE: WORDS`, several with semicolons between, in the last column of a table
whose head there is Test.  A makefile or a script names FILE, or what is built of it, and WORDS are
in it.
"""
import functools
import pathlib
import re
import sys


def tests(page):
    """Line number, file and words of each test in the page's tables."""
    is_table = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            is_table = False
        elif cells[-1] == "Test":
            is_table = True
        elif is_table and not line.startswith("|-"):
            for test in cells[-1].split("; "):
                file, _, words = test.partition(": ")
                yield number, file, words


@functools.lru_cache(maxsize=None)
def text(path):
    return path.read_text(encoding="utf-8")


def is_run(source, file):
    """Is it in a list of make's, or in a script other than itself?"""
    name = re.escape(file.name)
    built = re.escape(re.sub("^test_", "", file.stem))
    lists = [*source.glob("**/*.mk"), *source.glob("*.mk.in"), *source.glob("test/**/*.sh")]
    return any(re.search(rf"{name}|\b(test_)?{built}\b", text(path))
               for path in lists if path.name != file.name)


def mistake(source, file, words):
    path = source / file
    if not file.startswith("test/") or not path.is_file():
        return "there is no such file in test"
    if not is_run(source, path):
        return "no makefile and no script names it"
    if words and not re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text(path)):
        return f'"{words}" is not in it'
    return None


def main():
    source, failed, found = pathlib.Path(sys.argv[1]), False, 0
    for page in sys.argv[2:]:
        for line, file, words in tests(pathlib.Path(page)):
            wrong = mistake(source, file, words)
            found += 1
            if wrong:
                print(f"{page}:{line}: {file}: {wrong}")
                failed = True
    print(f"{found} tests are named")
    return failed or found == 0


sys.exit(main())
