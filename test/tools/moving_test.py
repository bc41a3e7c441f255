"""Steps through a page of collopt-plan in a browser: each step shows the messages of its round and
no others, those of rounds before are pale, and buttons and keys do what they say.

    moving_test.py PAGE.html PLAN.json
"""

import json
import os
import sys

import browser

LOOK = """(() => {
    const all = [...document.querySelectorAll('.message')],
          seen = p => getComputedStyle(p).visibility === 'visible',
          pale = p => p.classList.contains('past');
    return [all.filter(p => seen(p) && !pale(p)).length, all.filter(p => seen(p) && pale(p)).length,
            document.getElementById('step').value];
})()"""


def main(file, plan):
    with open(plan, encoding="utf-8") as source:
        plan = json.load(source)
    rounds = plan["totals"]["rounds"]
    counts = [0] + [sum(t["round"] == r for t in plan["transfers"]) for r in range(1, rounds + 1)]
    counts.append(0)
    assert sum(counts) == plan["totals"]["messages"] > 0, (counts, plan["totals"])
    wrong = []

    def check(page, step, how):
        now, past, words = page.run(LOOK)
        if (now, past) != (counts[step], sum(counts[:step])):
            wrong.append("%s: step %d shows %d messages and %d pale ones, not %d and %d"
                         % (how, step, now, past, counts[step], sum(counts[:step])))
        if 0 < step <= rounds and not words.startswith("round %d of %d: %d message"
                                                       % (step, rounds, counts[step])):
            wrong.append("%s: step %d says \"%s\"" % (how, step, words))

    with browser.Browser() as chromium:
        page = chromium.page()
        page.set(1200)
        page.open("file://" + os.path.abspath(file))
        press = "document.getElementById('%s').click()"
        check(page, 0, "opened")
        for step in range(1, rounds + 2):
            page.run(press % "next")
            check(page, step, "forward")
        for step in range(rounds, -1, -1):
            page.run(press % "back")
            check(page, step, "back")
        page.run(press % "last")
        check(page, rounds + 1, "the end")
        page.run(press % "first")
        check(page, 0, "the start")
        page.key("ArrowRight", 39)
        check(page, 1, "a key")
        page.key("ArrowLeft", 37)
        check(page, 0, "a key back")
        page.run(press % "play")
        page.run("new Promise(done => setInterval(() => "
                 "document.getElementById('last').disabled && done(), 20))")
        check(page, rounds + 1, "played")
        if page.run("document.getElementById('play').textContent") != "Play":
            wrong.append("it does not stop at the end")
        # Without its script: the whole drawing, and no buttons.
        still = chromium.page()
        still.set(1200, script=False)
        still.open("file://" + os.path.abspath(file))
        seen = still.run("[...document.querySelectorAll('.message')].filter("
                         "p => getComputedStyle(p).visibility === 'visible').length")
        shown = still.run("getComputedStyle(document.querySelector('nav')).display")
        if seen != sum(counts) or shown != "none":
            wrong.append("without script %d messages, buttons %s" % (seen, shown))
        wrong.extend(page.errors)
        wrong.extend(address for address in page.requests if not address.startswith("file:"))
    for each in wrong:
        print("FAIL: %s" % each)
    print("%d rounds, %d messages, %d wrong" % (rounds, sum(counts), len(wrong)))
    return 1 if wrong else 0


if not browser.executable():
    print("SKIP: no Chromium")
    sys.exit(77)
sys.exit(main(*sys.argv[1:]))
