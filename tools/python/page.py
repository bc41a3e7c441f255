"""One HTML page with everything in it: no part of it comes from the network, and its policy allows
none to.

Escaping happens in el(), for every text and every attribute; Html is what has been through it.
Without scripts the page is whole; with them tables can be sorted.  What a bar shows is also written
beside it, so bars are hidden from screen readers."""

import base64
import hashlib
import html
import math
import os

import colours
from text import cell_of, clean

TONES = ("collopt", "host", "rest", "faster", "slower")
VOID = ("meta",)


class Html(str):
    """Is not escaped again."""


def escape(text):
    return Html(html.escape("\n".join(clean(line) for line in str(text).split("\n"))))


def content(parts):
    out = []
    for part in parts:
        if part is None or part is False:
            continue
        if isinstance(part, (list, tuple)):
            out.append(content(part))
        else:
            out.append(part if isinstance(part, Html) else escape(part))
    return Html("".join(out))


def el(tag, *parts, **attributes):
    """An element.  class_ is class, aria_label aria-label; None and False leave an attribute out,
    True gives it without a value."""
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        words.append(name if value is True else '%s="%s"' % (name, escape(value)))
    begin = Html("<%s>" % " ".join(words))
    return begin if tag in VOID else Html("%s%s</%s>" % (begin, content(parts), tag))


class Section:
    def __init__(self, id, title, *parts):
        self.id, self.title, self.parts = id, title, parts

    def html(self):
        return el("section", el("h2", self.title, id="%s-title" % self.id), self.parts, id=self.id,
                  aria_labelledby="%s-title" % self.id)


# ---- parts of a page -----------------------------------------------------------------------------


def figures(list_of_figures):
    """Key figures: (label, value, about) each."""
    return el("dl", [el("div", el("dt", label), el("dd", value, class_="value"),
                        about and el("dd", about, class_="about"))
                     for label, value, about in list_of_figures], class_="figures")


def per_cent(share):
    return "%.3f%%" % (100 * min(max(share, 0), 1))


def share_bar(caption, parts):
    """One bar of (label, value, tone) each; the labels have the figures.  What is 0 is left out."""
    whole = sum(value for _, value, _ in parts) or 1
    return el("figure", el("figcaption", caption),
              el("div", [el("span", class_="tone-" + tone,
                            style="flex: %s 1 0" % per_cent(value / whole).rstrip("%"))
                         for _, value, tone in parts if value > 0],
                 class_="whole", aria_hidden="true"),
              el("ul", [el("li", label, class_="tone-" + tone)
                        for label, value, tone in parts if value > 0], class_="legend"),
              class_="share")


def bar_of(cell):
    """A bar from the left; of a ratio from the middle, where eight times fill a half."""
    if cell.ratio is not None:
        half = max(min(math.log(cell.ratio, 8), 1), -1) / 2 if cell.ratio > 0 else 0
        inside = el("i", style="--from: %s; --to: %s"
                    % (per_cent(0.5 + min(half, 0)), per_cent(abs(half))))
    else:
        inside = [el("i", style="--to: %s" % per_cent(cell.bar))]
        if cell.spread and cell.spread[1] > cell.spread[0]:
            low, high = cell.spread
            inside.append(el("b", style="--from: %s; --to: %s"
                             % (per_cent(low), per_cent(min(high, 1) - low))))
    return el("span", inside, class_="bar" + (" middle" if cell.ratio is not None else ""),
              aria_hidden="true")


def table_cell(column, cell):
    cell = cell_of(cell)
    barred = cell.bar is not None or cell.ratio is not None
    classes = ["number" if column.kind == "number" else None,
               "wide" if column.kind == "words" else None,
               "barred" if barred else None, cell.tone and "tone-" + cell.tone]
    inside = cell.text
    if barred:
        inside = el("span", el("span", cell.text, class_="figure"), bar_of(cell), class_="both")
    elif cell.tone:
        inside = el("span", cell.text, class_="toned")
    attributes = {"class_": " ".join(c for c in classes if c) or None, "data_value": cell.value}
    if column.kind == "number" and cell.value is None:
        attributes["data_value"] = ""
    if column.header:
        return el("th", inside, scope="row", **attributes)
    return el("td", inside, **attributes)


def table(caption, columns, rows, note=None, sorts=True):
    """A table that can be sorted, in a frame that scrolls where the screen is narrow.
    The hints of its columns are below it."""
    head = [el("th", column.title, scope="col",
               class_="number" if column.kind == "number" else None) for column in columns]
    hints = [(column.title, column.hint) for column in columns if column.hint]
    return [
        el("div",
           el("table", el("caption", caption), el("thead", el("tr", head)),
              el("tbody", [["\n", el("tr", [table_cell(c, cell) for c, cell in zip(columns, row)])]
                           for row in rows]), class_="sorts" if sorts else None),
           class_="scroll", role="region", aria_label=caption, tabindex="0"),
        note and el("p", note, class_="note"),
        hints and el("details", el("summary", "Columns of this table"),
                     el("dl", [[el("dt", title), el("dd", hint)] for title, hint in hints],
                        class_="meanings"), class_="hints"),
    ]


def columns_chart(caption, described, bars, mean, top, words, ends):
    """A column for each of BARS (value, least, most, title, tone, band): share of TOP, against a
    line at MEAN.  DESCRIBED is the chart in words; WORDS say TOP and 0; ENDS are the first and the
    last label along it."""
    width = 100 / len(bars)
    gap = 0.12 * width if len(bars) <= 128 else 0
    shapes = []
    for i, (_, _, _, _, _, band) in enumerate(bars):
        if band:
            shapes.append(el("rect", x=per_cent(i * width / 100), y="0",
                             width=per_cent(width / 100), height="100%", class_="band"))
    shapes += [el("line", x1="0", x2="100%", y1=y, y2=y) for y in ("0%", "50%", "100%")]
    for i, (value, least, most, title, tone, _) in enumerate(bars):
        middle = per_cent((i + 0.5) * width / 100)
        shapes.append(
            el("g", el("title", title),
               el("rect", x=per_cent((i * width + gap) / 100), y=per_cent(1 - value / top),
                  width=per_cent((width - 2 * gap) / 100), height=per_cent(value / top)),
               most > least and el("line", x1=middle, x2=middle, y1=per_cent(1 - most / top),
                                   y2=per_cent(1 - least / top), class_="spread"),
               class_="tone-" + tone))
    shapes.append(el("line", x1="0", x2="100%", y1=per_cent(1 - mean / top),
                     y2=per_cent(1 - mean / top), class_="mean"))
    return el("figure",
              el("figcaption", caption),
              el("div",
                 el("div", [el("span", word) for word in words], class_="up", aria_hidden="true"),
                 el("div", el("svg", shapes, aria_hidden="true"), role="img", aria_label=described),
                 el("div", [el("span", end) for end in ends], class_="along", aria_hidden="true"),
                 class_="plot"),
              class_="chart")


# ---- the page ------------------------------------------------------------------------------------


def part(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name),
              encoding="utf-8") as file:
        return file.read()


def document(title, kicker, heading, lead, top, sections, made_by):
    """The whole page.  TOP comes before the list of sections."""
    script = part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = ("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; "
              "base-uri 'none'; form-action 'none'" % digest)
    head = [el("meta", charset="utf-8"),
            Html('<meta http-equiv="Content-Security-Policy" content="%s">' % escape(policy)),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="generator", content=made_by),
            el("title", title), Html("<style>\n%s%s</style>" % (colours.style(), part("page.css")))]
    links = [el("li", el("a", section.title, href="#" + section.id)) for section in sections]
    body = [el("a", "To the content", class_="skip", href="#content"),
            el("div", el("header", el("p", kicker, class_="kicker"), el("h1", heading),
                         el("p", lead, class_="lead")),
               el("nav", el("ul", links), aria_label="Sections"),
               el("main", top, [s.html() for s in sections], id="content", tabindex="-1"),
               el("footer",
                  el("p", "Made by %s. Everything is in this file; nothing is loaded." % made_by)),
               class_="page"),
            el("div", id="said", class_="unseen", role="status", aria_live="polite"),
            Html("<script>%s</script>" % script)]
    return "<!DOCTYPE html>\n%s\n" % el("html", "\n", el("head", Html("\n".join(head))), "\n",
                                        el("body", Html("\n".join(body))), lang="en")
