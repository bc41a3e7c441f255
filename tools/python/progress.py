"""How far a tool is, on the standard error output."""

import os
import shutil
import sys


class Progress:
    """One line that is written over on a terminal, or a line each where WHEN is on; auto:
    terminals only."""

    def __init__(self, when, name):
        self.on = when == "on" or (when == "auto" and sys.stderr.isatty())
        self.over = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.name, self.shown = name, False

    def say(self, text):
        if not self.on:
            return
        line = "%s: %s" % (self.name, text)
        if self.over:
            sys.stderr.write("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])
            self.shown = True
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def clear(self):
        """Before something else is written."""
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self.shown = False
