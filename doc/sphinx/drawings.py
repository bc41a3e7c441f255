#!/usr/bin/env python3
"""Draws two tables of the pages for developers, to the standard output.

    doc/sphinx/drawings.py rooms        the folders of src, from src/README.md
    doc/sphinx/drawings.py call         the way of a call, from HACKING.md

A drawing so says what the page says: a test draws both again and compares."""
import html
import os
import re
import sys
import textwrap

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "tools/python"))
sys.dont_write_bytecode = True
import colours

LIGHT = {name: values["light"] for name, values in colours.COLOURS.items()}
WIDTH, LINE, PAD = 820, 18, 8
LETTER = 7.8                        # pixels of one, in the widest common font (DejaVu Sans)
MPI, CHOOSING, SCHEDULES, BASE = (colours.mix(LIGHT[name], LIGHT["card"], 0.16)
                                  for name in ("curve2", "curve1", "curve3", "curve5"))
PLAIN = LIGHT["track"]
COLOURS = {"front": PLAIN, "mpi": MPI, "report": MPI, "select": CHOOSING, "settings": CHOOSING,
           "algorithms": CHOOSING, "model": CHOOSING, "catalogue": CHOOSING, "base": BASE}
# From which steps a call leaves for the MPI library, and why.
LEAVES = {"communicator": "off, nested", "plan known?": "arguments", "attributes": "unknown",
          "break-even": "early", "decide": "chosen"}
ARROW = ('<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
         '<path d="M0,0 L8,4 L0,8 z" fill="%s"/></marker></defs>' % LIGHT["ink"])


class Wrong(Exception):
    """A page that does not have what is drawn."""


def page(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def text(x, y, words, more=""):
    return '<text x="%d" y="%d"%s>%s</text>' % (x, y, more, html.escape(words, False))


def arrow(path):
    return ('<path d="%s" fill="none" stroke="%s" marker-end="url(#a)"/>'
            % (path, LIGHT["ink"]))


def box(x, y, width, height, colour):
    return ('<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="%s"/>'
            % (x, y, width, height, colour, LIGHT["soft"]))


def room(x, y, width, name, words, at):
    """A box with a name, and lines of words from AT on; its height."""
    lines = textwrap.wrap(words.replace("`", ""), int((x + width - at - 10) / LETTER))
    height = LINE * len(lines) + PAD
    drawn = [box(x, y, width, height, COLOURS.get(name.split("/")[0], SCHEDULES)),
             text(x + 10, y + LINE, name.split("/")[-1], ' font-weight="bold"')]
    return drawn + [text(at, y + LINE * (i + 1), line) for i, line in enumerate(lines)], height


def picture(title, width, height, drawn):
    head = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"'
            % (width, height, width, height),
            '     font-family="sans-serif" font-size="14" fill="%s">' % LIGHT["ink"],
            "<title>%s</title>" % title,
            '<desc>Made by doc/sphinx/drawings.py</desc>',
            '<rect width="%d" height="%d" fill="%s"/>' % (width, height, LIGHT["card"]), ARROW]
    return "\n".join(head + drawn + ["</svg>\n"])


def rooms():
    """The front first, which includes none; then from above to below, as they include."""
    rows = re.findall(r"^\| ([a-z/]+) \| (.*?) \| .* \|$", page("src/README.md"), re.M)
    rows = [row for row in rows if row[0] != "folder"]
    if not rows or rows[0][0] != "front":
        raise Wrong("src/README.md has no table of folders that begins with front")
    drawn, y, frame = [], 14, None
    for name, words in rows[:1] + rows[:0:-1]:
        if name.startswith("mpi/") and frame is None:
            y, frame = y + 30, y
        elif not name.startswith("mpi/") and frame:
            drawn.insert(0, box(20, frame, WIDTH - 40, y - frame + 4,
                                colours.mix(LIGHT["curve2"], LIGHT["card"], 0.06)))
            drawn.append(text(30, frame + LINE, "mpi", ' font-weight="bold"'))
            drawn.append(text(140, frame + LINE,
                              "the only mpi.h: compiled once for each MPI library"))
            y, frame = y + 12, 0
        inner = 14 if frame else 0
        box_, height = room(20 + inner, y, WIDTH - 40 - 2 * inner, name, words, 140)
        drawn += box_
        y += height + 4
    rule = "A room includes its own headers and those of rooms below it; the front includes none."
    drawn.append(text(20, y + 16, rule, ' font-size="13"'))
    return picture("The rooms of src", WIDTH, y + 30, drawn)


def call():
    way = re.search(r"^## The way of a call\n\n((?:    .*\n)+)", page("HACKING.md"), re.M)
    steps = re.findall(r"^    (\S.*?)  +(.*)$", way.group(1), re.M) if way else []
    names = [name for name, _ in steps]
    missing = [name for name in list(LEAVES) + ["run"] if name not in names]
    if missing:
        raise Wrong("HACKING.md has no step %s in the way of a call" % ", ".join(missing))
    drawn, y, middle = [], 14, {}
    for name, words in steps:
        folder = re.search(r"\b([a-z]+)/", words)
        colour = COLOURS.get(folder.group(1) if folder else "front", SCHEDULES)
        lines, height = room(60, y, 660, name, words, 200)
        lines[0] = box(60, y, 660, height, colour)
        drawn += lines
        if name != names[-1]:
            drawn.append(arrow("M390,%d L390,%d" % (y + height, y + height + 13)))
        middle[name] = y + height // 2
        y += height + 14
    top, bottom = middle["communicator"] - 26, middle["run"] - 20
    drawn.append(box(815, top, 150, bottom - top, PLAIN))
    for i, words in enumerate(("the MPI library's", "own collective,", "with the caller's",
                               "arguments")):
        drawn.append(text(827, (top + bottom) // 2 + 20 * (i - 1), words))
    for name, why in LEAVES.items():
        drawn.append(arrow("M720,%d L813,%d" % (middle[name], middle[name])))
        drawn.append(text(766, middle[name] - 5, why, ' font-size="12" text-anchor="middle"'))
    known, run = middle["plan known?"], middle["run"]
    drawn.append(arrow("M60,%d L30,%d L30,%d L59,%d" % (known, known, run, run)))
    drawn.append('<text transform="translate(22,%d) rotate(-90)" font-size="13" '
                 'text-anchor="middle">yes: a repeated call</text>' % ((known + run) // 2))
    return picture("The way of a call", 980, y, drawn)


def main(words):
    if words not in (["rooms"], ["call"]):
        print(__doc__)
        return 0 if words == ["--help"] else 2
    try:
        sys.stdout.write(rooms() if words == ["rooms"] else call())
    except (Wrong, OSError) as wrong:
        sys.stderr.write("drawings: %s\n" % wrong)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
