"""Files that appear as a whole or not at all; devices and pipes are written to.  And what becomes
of a tool whose standard output cannot be written."""

import os
import sys
import tempfile

from text import clean


def open_streams():
    """Where a standard stream is closed, the null device takes its place, and no file of ours."""
    while True:
        file = os.open(os.devnull, os.O_RDWR)
        if file > 2:
            os.close(file)
            break
    for name, file in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(file, "w", encoding="utf-8", closefd=False))


def _give_up():
    """Nothing more can be said on the standard output, also not at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def guard(tool, work, of_pipe):
    """The status of WORK(); OF_PIPE where nobody reads the standard output any more, as with
    | head."""
    open_streams()
    try:
        status = work()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _give_up()
        return of_pipe
    except OSError as error:
        _give_up()
        sys.stderr.write("%s: %s cannot be written: %s\n"
                         % (tool, clean(error.filename or "the standard output"), error.strerror))
        return 1


def write_text(text):
    """To the standard output, as UTF-8 in any locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))


def write(name, fill):
    """FILL writes to a binary file, which becomes NAME."""
    if os.path.exists(name) and not os.path.isfile(name):
        with open(name, "wb") as file:
            fill(file)
        return
    folder = os.path.dirname(os.path.abspath(name))
    beside, path = tempfile.mkstemp(prefix=".collopt-", dir=folder)
    try:
        with open(beside, "wb") as file:
            fill(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(path, 0o666 & ~mask)
        os.replace(path, name)
    except BaseException:
        os.unlink(path)
        raise
