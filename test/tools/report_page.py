"""The pages of collopt-report in a headless Chromium: report_page.py FILE.html...

Each page is looked at as on a phone and on a desktop, light and dark, with and without scripts, and
printed.  First each look is shown a page that has what it looks for, so that one that sees nothing
is noticed.  With COLLOPT_PICTURES=FOLDER screenshots stay there."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from browser import Browser     # noqa: E402

SCREENS = [(width, scheme) for width in (390, 1280) for scheme in ("light", "dark")]

# Text whose contrast to what is behind it is less than WCAG 2 AA wants, 4.5, or 3 where it is
# large; and bars, 3.
CONTRAST = r"""(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = color => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => {
        const x = light(a), y = light(b);
        return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    };
    const over = (top, below) =>
        top.slice(0, 3).map((v, i) => (v * top[3] + below[i] * (255 - top[3])) / 255);
    const behind = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement)
            layers.push(rgba(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((below, top) => over(top, below), rgba("white"));
    };
    const bad = [];
    for (const e of document.body.querySelectorAll("*")) {
        const style = getComputedStyle(e), box = e.getBoundingClientRect();
        if (!box.width || !box.height || style.visibility === "hidden") continue;
        const says = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (says && !e.closest(".unseen, script")) {
            const size = parseFloat(style.fontSize);
            const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
            const found = ratio(over(rgba(style.color), behind(e)), behind(e));
            if (found < (large ? 3 : 4.5))
                bad.push(`${e.tagName} "${e.textContent.slice(0, 30)}": ${found.toFixed(2)}`);
        }
        if (e.matches(".bar i")) {
            const found = ratio(rgba(style.backgroundColor), behind(e.parentElement));
            if (found < 3) bad.push(`a bar: ${found.toFixed(2)}`);
        }
    }
    return bad;
})()"""

# What a screen reader needs, and what of it is missing.
READABLE = r"""(() => {
    const bad = [], all = s => [...document.querySelectorAll(s)];
    if (document.documentElement.lang !== "en") bad.push("no language");
    if (!document.title) bad.push("no title");
    for (const one of ["header", "main", "nav", "footer", "h1"])
        if (all(one).length !== 1) bad.push(`${all(one).length} ${one}`);
    if (!all("nav")[0]?.getAttribute("aria-label")) bad.push("nav has no name");
    for (const s of all("section"))
        if (!document.getElementById(s.getAttribute("aria-labelledby"))?.textContent)
            bad.push("a section has no name");
    let before = 1;
    for (const h of all("h1, h2, h3, h4")) {
        const n = +h.tagName[1];
        if (n > before + 1) bad.push(`${h.textContent}: h${n} below h${before}`);
        before = n;
    }
    for (const t of all("table")) {
        if (!t.caption?.textContent.trim()) bad.push("a table has no caption");
        for (const h of t.tHead.rows[0].cells)
            if (h.tagName !== "TH" || h.scope !== "col")
                bad.push(`${t.caption?.textContent}: a head is no th of a column`);
        for (const r of t.tBodies[0].rows)
            if (r.cells[0].tagName !== "TH" || r.cells[0].scope !== "row")
                bad.push(`${t.caption?.textContent}: a row has no th`);
        for (const r of t.tBodies[0].rows)
            if (r.cells.length !== t.tHead.rows[0].cells.length)
                bad.push(`${t.caption?.textContent}: a row of ${r.cells.length} cells`);
    }
    for (const e of all("[role=img], [role=region], img"))
        if (!(e.getAttribute("aria-label") || e.alt)) bad.push("a picture or region has no name");
    for (const e of all("svg, .bar, .whole"))
        if (!e.closest("[aria-hidden=true]")) bad.push("a drawing is read out");
    for (const e of all(".bar"))
        if (!e.parentElement.querySelector(".figure")?.textContent.trim())
            bad.push("a bar has no figure beside it");
    for (const a of all("nav a"))
        if (!document.querySelector(a.getAttribute("href"))) bad.push(`${a.href} leads nowhere`);
    if (new Set(all("[id]").map(e => e.id)).size !== all("[id]").length)
        bad.push("an id is there twice");
    return bad;
})()"""

WIDER = ("document.documentElement.scrollWidth > innerWidth ? "
         "[document.documentElement.scrollWidth + ' of ' + innerWidth] : []")

SPOILT = """<!DOCTYPE html><title></title><body><img src="http://127.0.0.1:1/x.png">
<div style="width: 5000px; color: #999">pale</div>
<table><caption></caption><thead><tr><td>a</td></tr></thead>
<tbody><tr><td>b</td></tr></tbody></table>
<script>undefinedFunction()</script>"""

failed = 0


def fail(what, found):
    global failed
    print("FAIL: %s: %s" % (what, found))
    failed = 1


def same(what, found, wanted):
    if found != wanted:
        fail(what, "%s; wanted %s" % (found, wanted))


def looks_notice(browser, folder):
    """Each look finds what is wrong with a page on which everything is."""
    name = os.path.join(folder, "spoilt.html")
    with open(name, "w") as file:
        file.write(SPOILT)
    tab = browser.page()
    tab.set(390)
    tab.open("file://" + name)
    for what, found in (("errors", tab.errors), ("requests", tab.requests[1:]),
                        ("contrast", tab.run(CONTRAST)), ("width", tab.run(WIDER)),
                        ("readable", tab.run(READABLE))):
        if not found:
            fail("a spoilt page", "its %s are not noticed" % what)
    tab.close()


COLUMN = """((table, column) => [...document.querySelectorAll("table")[table].tBodies[0].rows]
    .map(r => r.cells[column].dataset.value ?? r.cells[column].textContent))"""
HEADS = """[...document.querySelectorAll("table.sorts")].flatMap(t =>
    t.tBodies[0].rows.length < 2 || !t.checkVisibility() ? [] :
    [...t.tHead.rows[0].cells].map((h, column) => ({
        table: [...document.querySelectorAll("table")].indexOf(t), column,
        number: h.classList.contains("number"), title: h.textContent})))"""
# Scrolls to what is in the header that is named, and says where its middle is.
MIDDLE = """(e => {
    e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const b = e.getBoundingClientRect();
    return [b.x + b.width / 2, b.y + b.height / 2];
})(%s.firstChild)"""


def in_order(values, number, ascending):
    known = [float(v) if number else v for v in values if v != ""]
    if values != [v for v in values if v != ""] + [""] * (len(values) - len(known)):
        return False
    if not number:                      # names of which only digits are compared as numbers
        known = [[int(w) if w.isdigit() else w
                  for w in re.split(r"(\d+)", v.lower().replace("_", " "))] for v in known]
    return all(a <= b if ascending else a >= b for a, b in zip(known, known[1:]))


def head(table, column):
    return 'document.querySelectorAll("table")[%d].tHead.rows[0].cells[%d]' % (table, column)


def sorts(tab, what):
    heads = tab.run(HEADS)
    if not heads:
        fail(what, "no table can be sorted")
    for i, h in enumerate(heads):
        where = head(h["table"], h["column"])
        column = "%s(%d, %d)" % (COLUMN, h["table"], h["column"])
        before = sorted(tab.run(column))
        if i % 2:
            press = [lambda: tab.key("Enter", 13, "\r"), lambda: tab.key(" ", 32, " ")]
            tab.run(where + ".firstChild.focus()")
        else:
            box = tab.run(MIDDLE % where)
            press = [lambda: tab.click(*box)] * 2
        order = ["descending", "ascending"] if h["number"] else ["ascending", "descending"]
        for way, act in zip(order, press):
            act()
            values = tab.run(column)
            same("%s, %s" % (what, h["title"]), tab.run(where + ".getAttribute('aria-sort')"), way)
            same("%s, %s" % (what, h["title"]), sorted(values), before)
            if not in_order(values, h["number"], way == "ascending"):
                fail("%s, %s, %s" % (what, h["title"], way), values)
        same(what + ": sorted columns of one table",
             tab.run("%s.parentElement.querySelectorAll('[aria-sort]').length" % where), 1)
        if h["title"] not in tab.run("document.querySelector('[role=status]').textContent"):
            fail(what, "a screen reader does not hear that it was sorted by " + h["title"])


def tab_reaches(tab, what):
    """The first sorting button, by the Tab key alone, and it shows that it is there."""
    tab.run("scrollTo(0, 0); document.activeElement.blur()")
    for _ in range(40):
        tab.key("Tab", 9)
        if tab.run("document.activeElement.matches('thead button')"):
            if tab.run("getComputedStyle(document.activeElement).outlineStyle") == "none":
                fail(what, "nothing shows that a button has the focus")
            return
    fail(what, "the Tab key does not come to a column's name")


def looks(tab, what, url):
    same(what + ", errors", tab.errors, [])
    same(what + ", requests", tab.requests, [url])
    for name, look in (("contrast", CONTRAST), ("readable", READABLE),
                       ("wider than the screen", WIDER)):
        same("%s, %s" % (what, name), tab.run(look), [])


def look_at(browser, file):
    url, pictures = "file://" + os.path.abspath(file), os.environ.get("COLLOPT_PICTURES")
    name = os.path.splitext(os.path.basename(file))[0]
    tab = browser.page()
    for width, scheme in SCREENS:
        what = "%s, %d wide, %s" % (name, width, scheme)
        tab.set(width, scheme)
        tab.open(url)
        looks(tab, what, url)
        if pictures:
            tab.picture(os.path.join(pictures, "%s-%d-%s.png" % (name, width, scheme)))
        tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        looks(tab, what + ", unfolded", url)
    tab_reaches(tab, name)
    sorts(tab, name)
    same(name + ", errors", tab.errors, [])
    for width, scheme in SCREENS[:1] + SCREENS[-1:]:
        tab.set(width, scheme, script=False)
        tab.open(url)
        what = "%s, %d wide, no scripts" % (name, width)
        looks(tab, what, url)
        same(what + ", buttons", tab.run("document.querySelectorAll('button').length"), 0)
        if not tab.run("document.querySelectorAll('tbody tr').length"):
            fail(what, "no rows")
    tab.set(1280, "dark")
    tab.open(url)
    printed = tab.pdf()
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    if not printed.startswith(b"%PDF") or not 1 <= pages <= 60:
        fail(name, "no PDF: %s, %d pages" % (printed[:8], pages))
    tab.ask("Emulation.setEmulatedMedia", media="print",
            features=[{"name": "prefers-color-scheme", "value": "dark"}])
    same(name + ", printed, contrast", tab.run(CONTRAST), [])
    same(name + ", printed, paper", tab.run("getComputedStyle(document.body).backgroundColor"),
         "rgb(255, 255, 255)")
    tab.close()


def main(files):
    with tempfile.TemporaryDirectory() as folder, Browser(600) as browser:
        looks_notice(browser, folder)
        for file in files:
            look_at(browser, file)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
