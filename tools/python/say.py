"""Sentences on a terminal, folded to its width; elsewhere each is one line, which scripts find. """

import textwrap

from text import Terminal, clean


class Screen(Terminal):
    def sentence(self, text, first="  ", others=None, colour=None):
        text = clean(text)
        if self.width:
            text = textwrap.fill(text, max(self.width - 1, 40), initial_indent=first,
                                 break_long_words=False, break_on_hyphens=False,
                                 subsequent_indent=" " * len(first) if others is None else others)
        else:
            text = first + text
        self.say(self.paint(self.plain(text), colour))

    def heading(self, text, first=""):
        self.sentence(text, first, colour="bold")


def plural(n, one, many=None):
    return "%d %s" % (n, one if n == 1 else many or one + "s")
