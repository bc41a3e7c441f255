"""How far a tool is, on the standard error output."""

import os
import shutil
import sys
import time


class Progress:
    """One line that is written over on a terminal, or a line each where WHEN is on.  auto: on a
    terminal; elsewhere a line in EVERY so many seconds, or none."""

    def __init__(self, when, name, every=None):
        self.on = when == "on" or (when == "auto" and (every is not None or sys.stderr.isatty()))
        self.every = every if when == "auto" else 0
        self.last = float("-inf")
        self.over = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.name, self.shown = name, False

    def say(self, text):
        if not self.on:
            return
        line = "%s: %s" % (self.name, text)
        if self.over:
            sys.stderr.write("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])
            self.shown = True
        elif time.monotonic() - self.last >= (self.every or 0):
            sys.stderr.write(line + "\n")
            self.last = time.monotonic()
        sys.stderr.flush()

    def tell(self, text):
        """A line that stays."""
        if self.on:
            self.clear()
            sys.stderr.write("%s: %s\n" % (self.name, text))
            sys.stderr.flush()

    def clear(self):
        """Before something else is written."""
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self.shown = False
