"""Runs a program whose system calls memfd_create, process_vm_readv and process_vm_writev fail
(EPERM), as in some containers:

    without_calls.py PROGRAM [ARGUMENT]...

Exit status 77: this kernel or processor is not known here."""

import ctypes
import os
import platform
import struct
import sys

NUMBERS = {"x86_64": (319, 310, 311), "aarch64": (279, 270, 271)}
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06           # BPF: of a word, at an offset
ALLOW, EPERM = 0x7fff0000, 0x00050001
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2       # prctl


def instruction(code, then, otherwise, value):
    return struct.pack("HBBI", code, then, otherwise, value)


def main():
    if platform.machine() not in NUMBERS:
        return 77
    calls = NUMBERS[platform.machine()]
    code = instruction(LOAD, 0, 0, 0)
    for i, number in enumerate(calls):
        code += instruction(IF_EQUAL, len(calls) - i, 0, number)
    code += instruction(RETURN, 0, 0, ALLOW) + instruction(RETURN, 0, 0, EPERM)
    kept = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8,
                                                      ctypes.addressof(kept)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(SET_SECCOMP, FILTER, program):
        return 77
    os.execvp(sys.argv[1], sys.argv[1:])


sys.exit(main())
