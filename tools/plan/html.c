/* A plan as a page: the drawing of svg.c, of which each step shows the messages of one round, those
 * of the rounds before it pale, and nothing of what comes after it. The page needs nothing else.
 * Without its script it shows the whole drawing. */
#include "config.h"

#include "plan/html.h"
#include "plan/plan.h"
#include "plan/svg.h"
#include "shared/colours.h"

static const char style[] =
    "body { font: 15px/1.4 Helvetica, Arial, 'DejaVu Sans', sans-serif;\n"
    "       color: " COLOUR_INK "; margin: 1em; }\n"
    "h1 { font-size: 1.1em; margin: 0 0 .7em; }\n"
    "nav { display: flex; flex-wrap: wrap; gap: .5em; align-items: center; margin: 0 0 1em; }\n"
    "nav[hidden] { display: none; }\n"
    "button { font: inherit; padding: .2em .8em; }\n"
    "output { min-width: 22em; }\n"
    ".drawing { overflow-x: auto; }\n"
    "[data-round] { transition: opacity .3s; }\n"
    ".past { opacity: .25; }\n"
    ".later { visibility: hidden; }\n"
    "@media (prefers-reduced-motion: no-preference) {\n"
    "    .message.now .arrow { stroke-dasharray: 1; animation: send .8s ease-in-out; }\n"
    "    @keyframes send { from { stroke-dashoffset: 1; } to { stroke-dashoffset: 0; } }\n"
    "}\n";

static const char controls[] =
    "<nav hidden aria-label=\"Steps\">\n"
    "<button id=\"first\">Start</button>\n"
    "<button id=\"back\">Back</button>\n"
    "<button id=\"play\">Play</button>\n"
    "<button id=\"next\">Forward</button>\n"
    "<button id=\"last\">End</button>\n"
    "<output id=\"step\" aria-live=\"polite\"></output>\n"
    "</nav>\n";

/* Keys do as the buttons do: left, right, home, end and the space bar. */
static const char script[] =
    "const parts = [...document.querySelectorAll('[data-round]')],\n"
    "      rounds = Number(document.querySelector('.drawing').dataset.rounds),\n"
    "      id = name => document.getElementById(name);\n"
    "let step = 0, playing = 0;\n"
    "function show(to) {\n"
    "    step = Math.min(Math.max(to, 0), rounds + 1);\n"
    "    for (const part of parts) {\n"
    "        const round = Number(part.dataset.round);\n"
    "        part.classList.toggle('now', round === step);\n"
    "        part.classList.toggle('past', round < step);\n"
    "        part.classList.toggle('later', round > step);\n"
    "    }\n"
    "    const n = parts.filter(p => p.matches('.message.now')).length;\n"
    "    id('step').value = step === 0 ? `before the first of ${rounds} rounds`\n"
    "        : step > rounds ? 'the result' : `round ${step} of ${rounds}: `\n"
    "          + (n === 1 ? '1 message' : `${n} messages`);\n"
    "    id('first').disabled = id('back').disabled = step === 0;\n"
    "    id('last').disabled = id('next').disabled = step > rounds;\n"
    "    if (step > rounds) play(false);\n"
    "}\n"
    "function play(on) {\n"
    "    clearInterval(playing);\n"
    "    playing = on ? setInterval(() => show(step + 1), 1200) : 0;\n"
    "    id('play').textContent = on ? 'Pause' : 'Play';\n"
    "}\n"
    "function toggle() {\n"
    "    const start = !playing;\n"
    "    play(false);\n"
    "    if (start) { show(step > rounds ? 0 : step + 1); play(step <= rounds); }\n"
    "}\n"
    "function go(to) { play(false); show(to); }\n"
    "id('first').onclick = () => go(0);\n"
    "id('back').onclick = () => go(step - 1);\n"
    "id('next').onclick = () => go(step + 1);\n"
    "id('last').onclick = () => go(rounds + 1);\n"
    "id('play').onclick = toggle;\n"
    "document.onkeydown = event => {\n"
    "    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: rounds + 1 };\n"
    "    if (event.key in to) go(to[event.key]);\n"
    "    else if (event.key === ' ' && event.target.tagName !== 'BUTTON') toggle();\n"
    "    else return;\n"
    "    event.preventDefault();\n"
    "};\n"
    "document.querySelector('nav').hidden = false;\n"
    "show(0);\n";

bool plan_html(const struct plan *plan, int rank, FILE *to)
{
    char title[600];

    if (!plan_can_be_drawn(plan))
        return false;
    plan_title(plan, title, sizeof title);
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n"
            "<style>\n%s</style>\n<h1>%s</h1>\n%s<div class=\"drawing\" data-rounds=\"%d\">\n",
            title, style, title, controls, plan->totals.rounds);
    plan_svg(plan, rank, to);
    fprintf(to, "</div>\n<script>\n%s</script>\n</html>\n", script);
    return true;
}
