"""The colours of pictures, pages and terminals: those of colours.txt, by what they mean."""

import os

MEDIA = ("light", "dark", "print")


def read():
    """{name: {medium: "#rrggbb"}} and, of those that have one, {name: code of the terminal}"""
    pages, terminal = {}, {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "colours.txt"),
              encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if line[0] == "#" or not words:
                continue
            pages[words[0]] = dict(zip(MEDIA, words[1:4]))
            terminal.update({words[0]: code for code in words[4:]})
    return pages, terminal


COLOURS, TERMINAL = read()


def mix(colour, other, share):
    """SHARE of COLOUR, and the rest of OTHER."""
    parts = ((int(colour[i:i + 2], 16), int(other[i:i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join("%02x" % round(share * a + (1 - share) * b) for a, b in parts)


def variables(medium):
    """As variables of a style sheet."""
    return " ".join("--%s: %s;" % (name, colours[medium]) for name, colours in COLOURS.items())


def style():
    """Light or dark as the reader has it, and for printing."""
    return (":root { color-scheme: light dark; %s }\n"
            "@media (prefers-color-scheme: dark) { :root { %s } }\n"
            "@media print { :root { color-scheme: light; %s } }\n"
            % tuple(variables(medium) for medium in MEDIA))
