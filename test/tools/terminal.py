"""Runs a command on a terminal as a user would see it, and prints what comes.

    terminal.py COLUMNS [--interrupt WORD] COMMAND...     Ctrl-C is typed once WORD was seen

The exit status is the command's; 128 and more: of a signal. """

import os
import pty
import select
import signal
import struct
import sys
import termios
import fcntl

columns, command = int(sys.argv[1]), sys.argv[2:]
word = None
if command[0] == "--interrupt":
    word, command = command[1].encode(), command[2:]
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)        # a shell's background jobs ignore it
    os.environ["TERM"] = "xterm"
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.execvp(command[0], command)
seen = b""
while True:
    ready, _, _ = select.select([terminal], [], [], 240)
    if not ready:
        os.kill(pid, signal.SIGKILL)
        break
    try:
        part = os.read(terminal, 65536)
    except OSError:
        part = b""
    if not part:
        break
    seen += part
    sys.stdout.buffer.write(part)
    sys.stdout.flush()
    if word and word in seen:
        word = None
        os.write(terminal, b"\x03")
_, status = os.waitpid(pid, 0)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
