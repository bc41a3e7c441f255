"""Runs commands: output copied, time taken, limits kept, and ended as a whole if we are."""

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import reports

GRACE = 5           # seconds from one signal to the next, harder one
# Seconds that output is waited for behind the end of a command: a process that it left may hold the
# pipe open.
LEFT_BEHIND = 2


class Interrupted(Exception):
    """A signal that ends us has come."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


# Signals are only noted when they come, and looked at where we wait, so that nothing is left half
# done.
_came = []
_wakeup = []        # a pipe


def catch_signals():
    """Before the first run."""
    _wakeup.extend(os.pipe())
    for end in _wakeup:
        os.set_blocking(end, False)
    signal.set_wakeup_fd(_wakeup[1])
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:      # nohup
            signal.signal(number, lambda number, frame: _came.append(number))


def die_of(number):
    """Ends as the signal would have ended us, so that a shell that waits knows."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class Run:
    """The outcome of a command."""

    def __init__(self):
        self.status = None          # exit status; 128 and more: of a signal
        self.seconds = None
        self.timed_out = False
        self.output = b""           # both streams


def _stdin():
    """A file is read by every run from its beginning;
    a terminal or a pipe could be by the first only, so by none."""
    try:
        sys.stdin.buffer.seek(0)
        return open("/proc/self/fd/%d" % sys.stdin.fileno(), "rb")
    except (AttributeError, OSError, ValueError):
        return open(os.devnull, "rb")


class _Child:
    """A command that runs: its process group, and its output on the way to where it goes."""

    def __init__(self, words, environment, file, echo):
        with _stdin() as stdin:
            self.process = subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, env=environment,
                                            preexec_fn=os.setpgrp)
        self.start = time.perf_counter()
        self.ended = None           # when
        self.output = []
        self.keep = open(file, "wb") if file else None
        self.select = selectors.DefaultSelector()
        self.select.register(_wakeup[0], selectors.EVENT_READ)
        for stream, to in ((self.process.stdout, echo[0]), (self.process.stderr, echo[1])):
            self.select.register(stream, selectors.EVENT_READ, to)
        self.streams = 2

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def _take(self, stream, to):
        part = os.read(stream.fileno(), 65536)
        if not part:
            self.select.unregister(stream)
            self.streams -= 1
            return
        self.output.append(part)
        if self.keep:
            self.keep.write(part)
        if to:
            to.buffer.write(part)
            to.flush()

    def look(self, until):
        """Waits for something to happen, at most to the time UNTIL (None: for ever),
        and takes it in."""
        for key, _ in self.select.select(None if until is None
                                         else max(0, until - time.perf_counter())):
            if key.fileobj == _wakeup[0]:
                os.read(_wakeup[0], 4096)
            else:
                self._take(key.fileobj, key.data)
        if self.ended is None and self.process.poll() is not None:
            self.ended = time.perf_counter()

    def wait(self, until):
        """To the end of the command and of its output; False: UNTIL or a signal came before."""
        while self.ended is None and not _came and (until is None or time.perf_counter() < until):
            self.look(until)
        if self.ended is None:
            return False
        last = self.ended + LEFT_BEHIND
        while self.streams and time.perf_counter() < last:
            self.look(last)
        return True

    def stop(self, first):
        """Launchers end their ranks when they are asked to; what does not end is asked harder.
        A second Ctrl-C: at once."""
        for number in (first, signal.SIGTERM, signal.SIGKILL):
            del _came[:]
            self.signal(number)
            if self.wait(time.perf_counter() + GRACE):
                break
        self.signal(signal.SIGKILL)         # of the group, whoever is left

    def close(self):
        self.select.close()
        self.process.stdout.close()
        self.process.stderr.close()
        if self.keep:
            self.keep.close()


def _cannot_start(words, error):
    done = Run()
    done.status = 127 if isinstance(error, FileNotFoundError) else 126
    done.output = ("%s: %s\n" % (words[0], error.strerror)).encode()
    done.seconds = 0.0
    return done


def run(words, environment, file=None, echo=(None, None), limit=None):
    """Runs WORDS and returns a Run.  The command has a process group of its own, so that a Ctrl-C
    reaches it once, by us.  FILE: where its output is kept; ECHO: to which streams of ours it goes
    on.  LIMIT: seconds."""
    if _came:
        raise Interrupted(_came[0])
    try:
        child = _Child(words, environment, file, echo)
    except OSError as error:
        return _cannot_start(words, error)
    done = Run()
    try:
        if not child.wait(child.start + limit if limit else None):
            why = _came[0] if _came else None
            done.timed_out = why is None
            child.stop(why or signal.SIGTERM)
            if why:
                raise Interrupted(why)
        done.seconds = (child.ended or time.perf_counter()) - child.start
        status = child.process.poll()
        done.status = (128 + signal.SIGKILL if status is None
                       else status if status >= 0 else 128 - status)
        done.output = b"".join(child.output)
        return done
    finally:
        child.close()


def plain(environment):
    """The environment without collopt: as for a run that knows nothing of it."""
    kept = {name: value for name, value in environment.items()
            if name != "COLLOPT" and not name.startswith("COLLOPT_")}
    preload = [word for word in kept.pop("LD_PRELOAD", "").replace(":", " ").split()
               if "libcollopt" not in os.path.basename(word)]
    if preload:
        kept["LD_PRELOAD"] = ":".join(preload)
    return kept


def report_of(file):
    """The report of the ranks in FILE, or of each in FILE.<rank>; None: nothing."""
    return reports.read([file])[0] if os.path.exists(reports.files_of(file)[0]) else None


class Folder:
    """Where reports and output go: the folder the user has named, or one that is removed at the
    end.  Rank 0 writes reports, perhaps on another node, so a folder below the working directory is
    taken, which nodes mostly share."""

    def __init__(self, named):
        self.named, self.seen_here_only = named, False
        if named:
            os.makedirs(named, exist_ok=True)
            self.path = os.path.abspath(named)
            return
        try:
            self.path = tempfile.mkdtemp(prefix=".collopt-", dir=os.getcwd())
        except OSError:
            self.path, self.seen_here_only = tempfile.mkdtemp(prefix="collopt-"), True

    def file(self, name):
        return os.path.join(self.path, name)

    def remove(self):
        if not self.named:
            shutil.rmtree(self.path, ignore_errors=True)
