"""Charts of the pages: gnuplot draws, in the colours of tools/python/colours.txt, and the drawing
follows the reader's dark or light.

It carries a checksum of what gnuplot was told, by which one that is older than its figures is
found, on machines without gnuplot and with another version of it, too."""
import csv
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/python"))
sys.dont_write_bytecode = True
import colours

ORDER = ("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
FONT = "DejaVu Sans"
MARK = "sha256 of the figures drawn: "


class Wrong(Exception):
    """A mistake; the text says where it is."""


# ---- figures -------------------------------------------------------------------------------------

def in_order(collectives):
    return sorted(collectives, key=lambda c: (ORDER.index(c) if c in ORDER else len(ORDER), c))


def bytes_text(n):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if n >= 1 << shift and n % (1 << shift) == 0:
            return "%d %s" % (n >> shift, unit)
    return "%d B" % n


def lines_of(name, wanted, numbers):
    """The lines of a CSV file with these values; numbers in the columns NUMBERS."""
    found = []
    try:
        with open(name, newline="", encoding="utf-8") as file:
            for line in csv.DictReader(line for line in file if not line.startswith("#")):
                if all(line[column] == value for column, value in wanted.items()):
                    line.update((column, float(line[column])) for column in numbers)
                    found.append(line)
    except OSError as error:
        raise Wrong("%s: %s" % (name, error.strerror)) from None
    except KeyError as error:
        raise Wrong("%s: no column %s" % (name, error)) from None
    except (TypeError, ValueError):
        raise Wrong("%s: no number in one of the columns %s"
                    % (name, ", ".join(numbers))) from None
    if not found:
        raise Wrong("%s: no line has %s" % (name, ", ".join("%s=%s" % item
                                                          for item in wanted.items())))
    return found


# ---- colours -------------------------------------------------------------------------------------

def light(name):
    return colours.COLOURS[name]["light"]


def mixed(name, other, share):
    """SHARE of one colour, and the rest of another: for light and for dark."""
    return tuple(colours.mix(colours.COLOURS[name][medium], colours.COLOURS[other][medium], share)
                 for medium in ("light", "dark"))


def dark(more):
    """A style sheet that puts the dark colour in place of each light one.  MORE: {light: dark}."""
    pairs = {named["light"]: named["dark"] for named in reversed(list(colours.COLOURS.values()))}
    pairs.update({"#ffffff": colours.COLOURS["card"]["dark"]}, **more)
    rules = ['[%s="%s"] { %s: %s; }' % (what, old, what, new)
             for old, new in sorted(pairs.items()) for what in ("fill", "stroke", "color")]
    return ("<style>@media (prefers-color-scheme: dark) {\n%s\n}</style>" % "\n".join(rules))


# ---- drawings ------------------------------------------------------------------------------------

def checksum(told):
    return hashlib.sha256(told.encode()).hexdigest()


def draw(told, title, about="", more=None):
    """The SVG that gnuplot makes of TOLD, with a title, and in ABOUT what it says, for those who
    cannot see it."""
    if not shutil.which("gnuplot"):
        raise Wrong("gnuplot is not installed; bench/tables prints the same figures as tables")
    done = subprocess.run(["gnuplot"], input=told.encode(), stdout=subprocess.PIPE)
    if done.returncode:
        raise Wrong("gnuplot ended with status %d" % done.returncode)
    svg = re.sub(r"rgb\( *(\d+), *(\d+), *(\d+)\)",
                 lambda found: "#%02x%02x%02x" % tuple(map(int, found.groups())),
                 done.stdout.decode().replace("#FFFFFF", "#ffffff"))
    head = "<title>%s</title>\n<desc>%s Made by bench/%s; %s%s</desc>\n%s" % (
        html.escape(title), html.escape(about), os.path.basename(sys.argv[0]), MARK,
        checksum(told), dark(more or {}))
    return re.sub(r"<title>.*?</title>\s*<desc>.*?</desc>", lambda _: head, svg, count=1,
                  flags=re.S)


def check(picture, told):
    try:
        with open(picture, encoding="utf-8") as file:
            found = re.search(MARK + "([0-9a-f]+)", file.read())
    except OSError as error:
        raise Wrong("%s: %s" % (picture, error.strerror)) from None
    if not found or found.group(1) != checksum(told):
        raise Wrong("%s is not of these figures; run make pictures" % picture)


def main(words, usage, chart):
    """CHART(file, wanted) gives what draw() takes."""
    picture = None
    if words[:1] == ["--check"] and len(words) > 2:
        picture, words = words[1], words[2:]
    if not words or words[0].startswith("-"):
        print(usage)
        return 0 if words == ["--help"] else 2
    name = os.path.basename(sys.argv[0])
    try:
        wanted = dict(word.split("=", 1) for word in words[1:])
    except ValueError:
        sys.stderr.write("%s: COLUMN=VALUE is wanted behind the file\n" % name)
        return 2
    try:
        told, *rest = chart(words[0], wanted)
        if picture:
            check(picture, told)
        else:
            sys.stdout.write(draw(told, *rest))
    except Wrong as wrong:
        sys.stderr.write("%s: %s\n" % (name, wrong))
        return 1
    return 0
