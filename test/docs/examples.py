#!/usr/bin/env python3
"""Runs the examples in pages of doc/manual as a reader would, in a folder of its own.

    examples.py HOST PAGE...

A block below a line "% run", or "% run HOST" for one MPI, is a dialogue: what follows "$ " is given
to the shell, and the lines up to the next one are what it prints.  There, "..." stands for
anything; a line that is nothing else for any number of lines.  Below "% show" the lines are those
of the machine of whoever wrote the page: a word with a digit stands for any such word, and so do
units of time and of sizes, names of algorithms with "_", and spaces.  A
command without lines below it may print what it likes.  A block below "% file NAME" becomes that
file.  Commands of one page share a folder and a shell.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r'^% (run|show|file) ?(\S*)\n```\w*\n(.*?)^```$', re.M | re.S)
SECONDS = 300
NOISE = 4           # collopt-tune on a machine that is too busy to measure


def dialogue(text):
    """(command, lines that are to be printed)"""
    steps = []
    for line in text.splitlines():
        if line.startswith('$ '):
            steps.append((line[2:], []))
        elif line.startswith('> '):
            steps[-1] = (steps[-1][0] + '\n' + line[2:], [])
        else:
            steps[-1][1].append(line)
    return steps


def literally(part):
    return re.escape(part)


# A word of "% show" that matches one of these stands for every word that matches the second one.
KINDS = ((re.compile(r'\S*\d\S*'), r'\S*\d\S*'), (re.compile(r'[mµun]?s'), '[mµun]?s'),
         (re.compile('[KMGT]iB|B'), '(?:[KMGT]iB|B)'), (re.compile('[a-z]+_[a-z_]+'), '[a-z_:]+'))


def in_kind(part):
    """The pattern of PART, whose figures are those of one machine."""
    pattern = ''
    for space, word in re.findall(r'(\s*)(\S*)', part):
        stop = ''.join(re.findall('[,;:.)]+$', word))
        core = word[:len(word) - len(stop)]
        kind = next((to for look, to in KINDS if look.fullmatch(core)), re.escape(core))
        pattern += (r'\s+' if space else '') + kind + re.escape(stop)
    return pattern


def as_pattern(lines, escape=literally):
    pattern = ''
    for line in lines:
        if line == '...':
            pattern += '(?:.*\n)*?'
        else:
            pattern += '.*'.join(escape(part) for part in line.rstrip().split('...')) + ' *\n'
    return re.compile(pattern)


class Shell:
    """One shell for a page: variables and the folder stay from command to command."""

    def __init__(self):
        self.state = {}

    def run(self, command):
        script = f'{command}\nstatus=$?\nexport -p >.state\nexit $status'
        begin = '. ./.state\n' if os.path.exists('.state') else ''
        try:
            done = subprocess.run(['sh', '-c', begin + script], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b'').decode() + f'still running after {SECONDS} s\n'
        return done.returncode, done.stdout


def main():
    failed = ran = 0
    host = sys.argv[1]
    for page in sys.argv[2:]:
        with open(page, encoding='utf-8') as file:
            text = file.read()
        shell, blocks = Shell(), BLOCK.findall(text)
        if len(blocks) != len(re.findall(r'^% (?:run|show|file)', text, re.M)):
            print(f'FAIL: {page}: a line "% run", "% show" or "% file" without a block below it')
            failed += 1
        for kind, name, block in blocks:
            if kind == 'file':
                with open(name, 'w', encoding='utf-8') as file:
                    file.write(block)
                continue
            if name not in ('', host):
                continue
            for command, lines in dialogue(block):
                status, said = shell.run(command)
                ran += 1
                if status == NOISE and command.startswith('collopt-tune '):
                    print(f'noise: {command}')
                    continue
                if status or (lines and not as_pattern(
                        lines, in_kind if kind == 'show' else literally).fullmatch(said)):
                    failed += 1
                    print(f'FAIL: {page}: {command}\n--- status {status}, the page '
                          'has\n' + '\n'.join(lines) + f'\n--- it prints\n{said}')
        if os.path.exists('.state'):
            os.remove('.state')
    print(f'{ran} commands, {failed} failed')
    return 1 if failed or not ran else 0


sys.exit(main())
