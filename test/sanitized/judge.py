"""What sanitizers and valgrind have reported, in files: prints what concerns collopt, and then ends
with status 1.

MPI libraries leak what they allocate in MPI_Init, which collopt's own MPI_Init calls.  So a leak
concerns collopt where it has asked for the memory itself: where the first function of the stack
that is none of the C library, of hwloc or of the checker is collopt's.  Any other error of a
sanitizer concerns it, as nothing but collopt and its tests is compiled for it; one of valgrind
where collopt is in the stack.

    judge.py SRC FILE...        SRC: the folder with the sources of the library
"""

import os
import re
import sys

LEAK = re.compile(r"(Direct|Indirect) leak of |are (definitely|indirectly|possibly) lost")
ERROR = re.compile(r"ERROR: AddressSanitizer|runtime error: |DEADLYSIGNAL")
# what valgrind says of an error, in front of its stack
VALGRIND = re.compile(r"^==\d+== (Invalid|Conditional jump|Use of uninit|Syscall param|Mismatched"
                      r"|Source and destination overlap|Argument )")
FRAME = re.compile(r"^ +#\d+ |^==\d+== +(at|by) 0x")
# behind its stack: a blank line, or who allocated what it is about
END = re.compile(r"^(==\d+==)? *$|^==\d+== +(Address |Uninitialised value was)|allocated by thread")
# who allocates for others: of whom the memory is shows the next function of the stack
ALLOCATOR = re.compile(r"libasan|libubsan|libclang_rt|sanitizer|vgpreload|vg_replace|/libc\.so"
                       r"|/libc-|glibc|\.\./sysdeps|/libhwloc|unknown module|\?\?\?$"
                       r"| in (__interceptor_)?(m|c|re)alloc ")
SOURCE = re.compile(r"/src/([a-z_/]+\.[ch]):\d+")
# Without the name of a function, it may be one of a plugin that was at this address before.
LIBRARY = re.compile(r"( in |: )\w+ .*libcollopt")


def is_of(frame, source):
    """The compiler may have been told another path of the folder SOURCE."""
    found = SOURCE.search(frame)
    if found:
        return os.path.exists(os.path.join(source, found.group(1)))
    return LIBRARY.search(frame) is not None


class Finding:
    def __init__(self, line, leak, ours):
        self.lines, self.leak, self.ours, self.decided = [line], leak, ours, False

    def add(self, line, source):
        self.lines.append(line)
        ours = is_of(line, source)
        if self.decided or (self.leak and not ours
                            and (ALLOCATOR.search(line) or "libcollopt" in line)):
            return
        self.ours = self.ours or ours
        self.decided = self.leak or ours


def findings(name, source):
    found, last = [], None
    with open(name, encoding="utf-8", errors="replace") as file:
        for line in file:
            line = line.rstrip()
            if LEAK.search(line):
                last = Finding(line, True, False)
                found.append(last)
            elif ERROR.search(line) or VALGRIND.search(line):
                last = Finding(line, False, bool(ERROR.search(line)))
                found.append(last)
            elif last and FRAME.search(line):
                last.add(line, source)
            elif last and END.search(line):
                last = None
    return [one for one in found if one.ours]


def main(words):
    status = 0
    for name in words[1:]:
        for one in findings(name, words[0]):
            print("%s:\n%s" % (name, "\n".join(one.lines)))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
