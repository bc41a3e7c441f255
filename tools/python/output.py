"""Files that appear as a whole or not at all; devices and pipes are written to."""

import os
import tempfile


def write(name, fill):
    """FILL writes to a binary file, which becomes NAME."""
    if os.path.exists(name) and not os.path.isfile(name):
        with open(name, "wb") as file:
            fill(file)
        return
    folder = os.path.dirname(os.path.abspath(name))
    beside, path = tempfile.mkstemp(prefix=".%s." % os.path.basename(name), dir=folder)
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
