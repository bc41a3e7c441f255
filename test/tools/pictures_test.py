"""Opens pictures in a browser, with two fonts, and finds texts that are cut or lie on others.

    pictures_test.py FILE.svg...
"""

import os
import sys

import browser

# The widest of the common ones, and one with serifs: pictures name fonts that may not be there.
FONTS = ("DejaVu Sans", "DejaVu Serif")
TOUCH = 1.5             # pixels of a box, which has room above and below its letters

LOOK = """(font => {
    const svg = document.documentElement,
          style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = `text, text * { font-family: "${font}" !important; }`;
    svg.appendChild(style);
    const all = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim()).map(t => {
        const box = t.getBoundingClientRect();
        return [t.textContent.trim(), box.left - all.left, box.top - all.top,
                box.right - all.left, box.bottom - all.top];
    });
    style.remove();
    return [all.width, all.height, boxes];
})(%r)"""


def complaints(width, height, boxes):
    for words, left, top, right, bottom in boxes:
        if left < 0 or top < 0 or right > width or bottom > height:
            yield "\"%s\" is cut: %.0f to %.0f of %.0f" % (words, left, right, width)
    for i, (words, left, top, right, bottom) in enumerate(boxes):
        for other, left2, top2, right2, bottom2 in boxes[i + 1:]:
            wide = min(right, right2) - max(left, left2)
            high = min(bottom, bottom2) - max(top, top2)
            if wide > TOUCH and high > 0.35 * min(bottom - top, bottom2 - top2):
                yield "\"%s\" lies on \"%s\"" % (words, other)


def main(files):
    # what it finds, where it is
    made = [("cut", -3, 0, 20, 10), ("a", 0, 20, 30, 32), ("b", 25, 21, 50, 33)]
    assert len(list(complaints(100, 100, made))) == 2, list(complaints(100, 100, made))
    bad = texts = 0
    with browser.Browser() as chromium:
        page = chromium.page()
        page.set(1600)
        for file in files:
            page.open("file://" + os.path.abspath(file))
            for font in FONTS:
                width, height, boxes = page.run(LOOK % font)
                texts += len(boxes)
                for complaint in complaints(width, height, boxes):
                    print("FAIL: %s, %s: %s" % (os.path.basename(file), font, complaint))
                    bad += 1
    print("%d pictures, %d texts, %d complaints" % (len(files), texts, bad))
    return 1 if bad or not texts else 0


if not browser.executable():
    print("SKIP: no Chromium")
    sys.exit(77)
sys.exit(main(sys.argv[1:]))
