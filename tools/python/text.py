"""Figures in words, and tables on a terminal."""

import os
import shutil
import sys

import colours

# ---- figures -------------------------------------------------------------------------------------


def clean(text):
    """TEXT without what a terminal or a page could take for a command: control characters,
    halves of surrogate pairs."""
    return "".join("\ufffd" if ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000
                   else c for c in str(text))


def digits(value):
    """Three digits, without an exponent: 0.00123, 1.23, 123, 12345."""
    if value == 0:
        return "0"
    if abs(value) >= 99.95:
        return "%.0f" % value
    return ("%.*f" % (1 if abs(value) >= 9.995 else 2, value) if abs(value) >= 0.9995
            else "%.3g" % value)


def five_digits(value):
    return float("%.5g" % value)


UNITS = (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def seconds(value):
    """1.23 ms"""
    if value is None:
        return ""
    if value == 0:
        return "0 s"
    unit, scale = next((u for u in UNITS if value >= 0.9995 * u[1]), UNITS[-1])
    return "%s %s" % (digits(value / scale), unit)


def exact_seconds(value):
    """1.2345 ms, of a value of five digits: from two of these a reader can take the ratio."""
    unit, scale = next((u for u in UNITS if value >= u[1]), UNITS[-1])
    return "%s %s" % ("%.5g" % (value / scale) if value < 99999 else "%.0f" % value, unit)


def size(value):
    """4 KiB, for as long as the number has three digits at most; then the next unit."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    unit = 0
    while value >= 1024 and unit + 1 < len(units):
        value /= 1024
        unit += 1
    return "%s %s" % ("%d" % value if value == int(value) else digits(value), units[unit])


def count(value):
    """12 345"""
    return "{:,}".format(value).replace(",", "\u202f")


def percent(share):
    if share is None:
        return ""
    return "%.1f%%" % (100 * share) if share < 0.9995 else "%.0f%%" % (100 * share)


def exact_ratio(value):
    """1.234, 12.34, 1234"""
    return "%.*f" % (3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0, value)


def ratio(value):
    if value is None:
        return ""
    return digits(value) + "×"


# ---- tables --------------------------------------------------------------------------------------


class Column:
    """TITLE; KIND is "text", or "number", which stands at the right and is sorted from the
    greatest.  HEADER: names the row.  HINT says what the figures are.  Where a terminal is too
    narrow, the columns of the greatest LESS go first."""

    def __init__(self, title, kind="text", header=False, hint=None, less=0):
        self.title, self.kind, self.header, self.hint, self.less = title, kind, header, hint, less


class Cell:
    """The text of a cell, its key for sorting, and its bar: BAR is a share of the whole width,
    SPREAD two such shares; a RATIO's bar begins in the middle.  TONE is one of page.TONES."""

    def __init__(self, text, value=None, bar=None, spread=None, ratio=None, tone=None):
        self.text, self.value, self.tone = text, value, tone
        self.bar, self.spread, self.ratio = bar, spread, ratio


def cell_of(cell):
    return cell if isinstance(cell, Cell) else Cell(cell)


class Terminal:
    """Where tables go: its width, and whether it shows colours and more than ASCII."""

    CODES = dict(colours.TERMINAL, bold="1", dim="2")

    def __init__(self, stream=None, environment=None):
        environment = os.environ if environment is None else environment
        self.stream = stream or sys.stdout
        tty = self.stream.isatty()
        self.colour = (tty and not environment.get("NO_COLOR")
                       and environment.get("TERM", "dumb") != "dumb")
        self.unicode = "utf" in (getattr(self.stream, "encoding", "") or "").lower()
        columns = environment.get("COLUMNS", "")
        if columns.isdigit() and int(columns) > 0:
            self.width = int(columns)
        else:
            self.width = shutil.get_terminal_size().columns if tty else None

    def plain(self, text):
        if self.unicode:
            return text
        for nice, plain in (("µ", "u"), ("×", "x"), ("\u202f", ","), ("…", "~"), ("█", "#"),
                            ("–", "-")):
            text = text.replace(nice, plain)
        return text.encode("ascii", "replace").decode("ascii")

    def paint(self, text, colour):
        if not self.colour or colour not in self.CODES:
            return text
        return "\033[%sm%s\033[0m" % (self.CODES[colour], text)

    def say(self, text=""):
        self.stream.write(text + "\n")


def fit(columns, widths, room):
    """Which columns are shown in ROOM: as many as there is room for,
    never without those that name the row."""
    shown = list(range(len(columns)))
    while sum(widths[i] for i in shown) + 2 * (len(shown) - 1) > room:
        least = max(shown, key=lambda i: (columns[i].less, i))
        if columns[least].less == 0:
            break
        shown.remove(least)
    return shown


def shorten(text, width):
    return text if len(text) <= width else text[:max(width - 1, 0)] + "…"


BAR = 16


def bar_of(cell):
    if cell.bar is None:
        return ""
    return "█" * max(int(cell.bar * BAR + 0.5), 1 if cell.bar > 0 else 0)


def table(terminal, caption, columns, rows):
    """Prints a table, as wide as the terminal at most."""
    rows = [[cell_of(cell) for cell in row] for row in rows]
    texts = [[clean(cell.text) for cell in row] for row in rows]
    widths = [max([len(column.title)] + [len(line[i]) for line in texts])
              for i, column in enumerate(columns)]
    bars = [any(row[i].bar is not None for row in rows) for i in range(len(columns))]
    shown = range(len(columns))
    if terminal.width is not None:
        shown = fit(columns, widths, terminal.width)
        spare = terminal.width - sum(widths[i] for i in shown) - 2 * (len(shown) - 1)
        barred = [i for i in shown if bars[i]]
        bars = [bars[i] and (BAR + 2) * len(barred) <= spare for i in range(len(columns))]
        for i in shown:
            if spare < 0 and columns[i].kind == "text":
                less = min(-spare, max(widths[i] - 6, 0))
                widths[i] -= less
                spare += less

    def line(words, cells=None):
        out = []
        for i in shown:
            word = shorten(words[i], widths[i])
            word = word.rjust(widths[i]) if columns[i].kind == "number" else word.ljust(widths[i])
            if cells and bars[i]:
                bar = bar_of(cells[i])
                word += "  " + terminal.paint(bar, cells[i].tone) + " " * (BAR - len(bar))
            elif bars[i]:
                word += " " * (BAR + 2)
            elif cells and cells[i].tone:
                word = terminal.paint(word, cells[i].tone)
            out.append(word)
        return terminal.plain("  ".join(out)).rstrip()

    terminal.say(terminal.paint(terminal.plain(caption), "bold"))
    terminal.say(terminal.paint(line([column.title for column in columns]), "dim"))
    for words, cells in zip(texts, rows):
        terminal.say(line(words, cells))
    terminal.say()
