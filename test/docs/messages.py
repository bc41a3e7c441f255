#!/usr/bin/env python3
"""Compares the messages in the source with doc/manual/troubleshooting.md, both ways.

    messages.py SOURCE [--list]

A message is a format that one of the functions below is called with.  The page has each as a user
sees it, a line of a block ```message; Cause and Remedy follow the block.  It fails if a format has
no line, or a line no format.

Formats with less than two words of their own, such as "%s: %s", only carry other messages.  Where
one message is put into another, the line shows both; words that a line has in place of a long %s
must be those of a message, too.
"""

import functools
import glob
import os
import re
import sys

# Called with a whole message, and with a part of one.
WHOLE = ('collopt_warn|collopt_warn_here|collopt_warn_once|tell_refusal|tell|warn|'
         'collopt_front_warn|collopt_front_warn_here|tune_say|fail|refuse|wrong|say')
PART = 'collopt_mistake|complain'
REFUSAL = r'collopt_say|collopt_explain_once'       # only what tells that something cannot be had
PRINT = r'fprintf|fputs'                            # to stderr
FILL = r'snprintf'                                  # of a buffer that a message is made in
BUFFERS = {'message', 'difference'}
FILES = ['src/**/*.c', 'tools/**/*.c', 'bench/lib/cells.c', 'bench/lib/options.c']
# The last two are started by other tools, which say what their users need.
NOT_FOR_USERS = {'tools/info/algorithms-page.c', 'tools/shared/replay.c', 'tools/collopt-probe.c',
                 'tools/collopt-statistics.c', 'tools/bench/machine.c'}
FILLED = {'src/mpi/node/agree.c': {'text'},
          'src/base/contents.c': {'why'}, 'tools/tune/guidelines.c': {'h->sentence'}}
SHELL = ['tools/*.in']
PYTHON = ['tools/python/*.py', 'packaging/wheel/collopt/*.py']
RAISED = r'(?:\w+\.)?(?:Wrong|Failed|Bad|BadReport)'      # exceptions whose text the user sees

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
CONVERSION = re.compile(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?([a-zA-Z])')
RUN = re.compile(r'[a-z]{2,}(?: [a-z]{2,})+')
WORD = re.compile(r'[A-Za-z_]{3,}')
PREFIX = re.compile(r'^(collopt(?:[- ]\w+)?|collopt\[\d+\]): ')


def without_comments(text):
    return re.sub(r'/\*.*?\*/', lambda found: '\n' * found[0].count('\n'), text, flags=re.S)


def arguments(text, start):
    """Those of a call whose parenthesis ends at START."""
    depth, at, begin, found = 1, start, start, []
    while depth and at < len(text):
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        if text[at] == "'":
            at += 4 if text[at + 1] == '\\' else 3
            continue
        depth += (text[at] in '([{') - (text[at] in ')]}')
        if depth == 0 or (depth == 1 and text[at] == ','):
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found


def alternatives(argument):
    """The texts of an expression of literals: "a" "b", or condition ? "a" : "b"."""
    argument = re.sub(r'"\s*PRI\w+\s*"', 'lu', argument)
    argument = re.sub(r'"\s*[A-Z_]{3,}\s*"', '%s', argument)     # a macro between two literals
    texts = []
    for run in re.finditer(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', argument):
        if not re.search(r'(strcmp|==)[^?:]*$', argument[:run.start()]):
            texts.append(''.join(LITERAL.findall(run[0])))
    return texts


def unescaped(text):
    return text.replace('\\"', '"').replace('\\n', '').replace('\\r', '').replace('\\\\', '\\')


def in_c(source):
    """(place, format, is it a whole message)"""
    names = '|'.join([WHOLE, PART, REFUSAL, PRINT, FILL])
    for name in sorted({n for pattern in FILES
                        for n in glob.glob(os.path.join(source, pattern), recursive=True)}):
        short = os.path.relpath(name, source)
        if short in NOT_FOR_USERS:
            continue
        with open(name, encoding='utf-8') as file:
            text = without_comments(file.read())
        for call in re.finditer(r'(?<![\w.>])(%s)\s*\(' % names, text):
            given, function = arguments(text, call.end()), call[1]
            literals = [alternatives(a) for a in given if LITERAL.search(a)]
            texts = literals[0] if literals else []
            # As in "%s", condition ? "one" : "other".
            if re.fullmatch(WHOLE, function) and not any(has_words(t) for t in texts):
                texts = [t for each in literals for t in each]
            if not texts or re.search(r'\bvoid\s*$|\bint\s*$|\bbool\s*$', text[:call.start()]):
                continue
            if re.fullmatch(PRINT, function) and 'stderr' not in given:
                continue
            if re.fullmatch(FILL, function) and given[0] not in BUFFERS | FILLED.get(short, set()):
                continue
            if re.fullmatch(REFUSAL, function) and not re.search(r'\b(cannot|no|not)\b', texts[0]):
                continue
            whole = not re.fullmatch('|'.join([PART, FILL]), function)
            for format in texts:
                if not format.startswith(('Usage', 'usage', '\\r')):
                    line = text.count('\n', 0, call.start()) + 1
                    yield f'{short}:{line}', unescaped(format), whole


def in_shell(source):
    for name in sorted(n for pattern in SHELL for n in glob.glob(os.path.join(source, pattern))):
        short = os.path.relpath(name, source)
        with open(name, encoding='utf-8') as file:
            text = file.read().replace('\\\n', '')
        for number, line in enumerate(text.split('\n'), 1):
            for said in re.finditer(r'(?:\bdie|echo) ((?:"(?:[^"\\]|\\.)*" *)+)(>&2)?', line):
                if said[0].startswith('echo') and not said[2]:
                    continue
                words = ' '.join(LITERAL.findall(said[1]))
                words = re.sub(r'\$\{?[\w#@*%/-]+\}?', '%s', words)
                yield f'{short}:{number}', unescaped(words), True


def in_double_quotes(literal):
    return literal[0] if literal[1] is None else '"' + literal[1].replace('"', '\\"') + '"'


def in_python(source):
    for name in sorted(n for pattern in PYTHON for n in glob.glob(os.path.join(source, pattern))):
        short = os.path.relpath(name, source)
        with open(name, encoding='utf-8') as file:
            text = file.read()
        for call in re.finditer(r'\braise %s\(' % RAISED, text):
            first = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'((?:[^\'\\\n]|\\.)*)\'', in_double_quotes,
                           arguments(text, call.end())[0])
            texts = alternatives(first.split('" %')[0] + '"' if '" %' in first else first)[:1]
            for format in texts:
                line = text.count('\n', 0, call.start()) + 1
                yield f'{short}:{line}', unescaped(format.split('\\n')[0]), True


def has_words(format):
    words = WORD.findall(CONVERSION.sub(' ', PREFIX.sub('', format)))
    return len(words) >= 2 or any(len(word) >= 6 for word in words)


@functools.lru_cache(maxsize=None)
def pattern(format):
    format, out, at = PREFIX.sub('', format.strip()), '', 0
    for conversion in re.finditer(CONVERSION.pattern + '|%%', format):
        out += re.escape(format[at:conversion.start()])
        out += '%' if conversion[0] == '%%' else r'(-?\d+)' if conversion[1] in 'du' else '(.*?)'
        at = conversion.end()
    return re.compile(out + re.escape(format[at:]))


def on_the_page(source):
    """(line number, message) of every line in a block,
    and complaints about blocks without Cause and Remedy."""
    with open(os.path.join(source, 'doc/manual/troubleshooting.md'), encoding='utf-8') as file:
        lines = file.read().split('\n')
    entries, complaints, at = [], [], 0
    while at < len(lines):
        if lines[at] == '```message':
            begin = at + 1
            at = lines.index('```', begin)
            entries += [(n + 1, lines[n]) for n in range(begin, at)]
            rest = ' '.join(lines[at + 1:at + 12]).split('```')[0]
            if '**Cause.**' not in rest or '**Remedy.**' not in rest:
                complaints.append(f'troubleshooting.md:{begin}: a message without **Cause.** '
                                  'and **Remedy.**')
        at += 1
    return entries, complaints


def literals(source):
    """Each pair of neighbouring words in a string of the source."""
    pairs = set()
    for name in (glob.glob(os.path.join(source, 'src/**/*.[ch]'), recursive=True)
                 + glob.glob(os.path.join(source, 'tools/**/*.[ch]'), recursive=True)
                 + glob.glob(os.path.join(source, 'tools/*'))):
        if not os.path.isfile(name):
            continue
        with open(name, encoding='utf-8') as file:
            text = re.sub(r'(?<!\\)"\s*"', '', without_comments(file.read()))
        for string in LITERAL.findall(text):
            pairs.update(neighbours(string))
    return pairs


def neighbours(text):
    return [(a, b) for run in RUN.findall(text) for a, b in zip(run.split(' '), run.split(' ')[1:])]


def foreign(text, pairs):
    """A word that stands nowhere in the source beside either of its neighbours; None:
    there is none."""
    for run in RUN.findall(text):
        words = run.split(' ')
        for before, word, after in zip(words, words[1:], words[2:]):
            if (before, word) not in pairs and (word, after) not in pairs:
                return word
    return None


def explained(text, formats, pairs):
    """Is it one of the formats, and are words that it has for a %s from the source, too?"""
    for format in formats:
        found = pattern(format).fullmatch(text)
        if found and all(len(WORD.findall(g or '')) < 4 or not foreign(g, pairs)
                         for g in found.groups()):
            return True
    return False


def main():
    source = sys.argv[1]
    found = list(in_c(source)) + list(in_shell(source)) + list(in_python(source))
    wholes = [f for _, f, whole in found if whole] + [
        '%s:%d: %s', '%s: %s', 'rank %d on %s: %s; the MPI library\'s own collectives are used',
        '%s; the MPI library\'s own collectives are used']
    loader = 'cannot open shared object file such file or directory'
    pairs = literals(source) | set(neighbours(loader))
    if '--list' in sys.argv:
        for place, format, whole in found:
            if has_words(format):
                print(f'{place}: {"" if whole else "+ "}{format}')
        return 0
    entries, complaints = on_the_page(source)
    said = [PREFIX.sub('', e) for _, e in entries]
    for place, format, _ in found:
        if has_words(format) and not any(pattern(format).search(line) for line in said):
            complaints.append(f'{place}: not in doc/manual/troubleshooting.md: {format}')
    for number, entry in entries:
        if not explained(PREFIX.sub('', entry), wholes, pairs):
            complaints.append(f'doc/manual/troubleshooting.md:{number}: no message of the source: '
                              f'{entry}')
    for complaint in complaints:
        print('FAIL:', complaint)
    print(f'{sum(has_words(f) for _, f, _ in found)} messages in the source, '
          f'{len(entries)} lines on the page')
    return 1 if complaints or len(found) < 100 else 0


sys.exit(main())
