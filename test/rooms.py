#!/usr/bin/env python3
"""Checks where files lie and which need which.

    rooms.py ROOT

Rooms: every source of src is in a folder of the table of src/README.md, and includes headers of its
own folder and of those above it in the table.
Modules: x.c with x.h is one, and so is either alone.  A header declares only what the source of its
name defines, and no module of src, tools and bench needs one that needs it.
Headers: each has a guard that is made of its path, but for one that a file includes several times.
config.h: included as "config.h", first, by each source of src and tools.
"""

import os
import re
import sys

UNTIDY = ('src/algorithms/',)   # to be put in order: modules are not looked at
TREES = ('src', 'tools', 'bench')               # of modules; their includes are looked for in each
GUARDED = TREES + ('test', 'include', 'examples')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)


def read(name):
    with open(name, encoding='utf-8') as file:
        return file.read()


def files(tree, ending):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(tree)
                  for name in names if re.search(ending, name))


def without_comments(text):
    return re.sub(r'/\*.*?\*/', lambda found: '\n' * found[0].count('\n'), text, flags=re.S)


# ---- rooms ----

def rooms():
    """{folder: place in the table}"""
    table = re.findall(r'^\| ([a-z_]+(?:/[a-z_]+)*) +\|', read('src/README.md'), re.M)
    return {room: place for place, room in enumerate(r for r in table if r != 'folder')}


def wrong_rooms():
    order = rooms()
    if not order:
        yield 'README.md has no table of folders'
    for name in files('src', r'\.[ch]$'):
        room = os.path.relpath(os.path.dirname(name), 'src')
        if room not in order:
            yield f'{name}: not in a folder of the table'
            continue
        for quote, other in INCLUDE.findall(read(name)):
            if quote == '<' or other in ('config.h', 'collopt.h'):
                continue
            there = os.path.dirname(other) or room
            if there not in order or order[there] > order[room]:
                yield f'{name}: {room} does not know {other}'


# ---- modules ----

def outside_of_braces(text):
    text = re.sub(r'^[ \t]*#(?:.*\\\n)*.*$', '', without_comments(text), flags=re.M)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', '0', text)
    text = re.sub(r'__attribute__ *\(\(.*?\)\)(?=[\s;])', '', text, flags=re.S)
    depth, out = 0, []
    for character in text:
        depth -= character == '}'
        if depth == 0:
            out.append('{}' if character == '}' else character if character != '{' else '')
        depth += character == '{'
    return ''.join(out)


def names(text):
    """(declared, defined): functions and variables with external linkage"""
    declared, defined = set(), set()
    for words, end in re.findall(r'([^;]*?)(;|\{\})', outside_of_braces(text)):
        words = words.strip()
        if not words or re.match(r'typedef\b', words) or re.search(r'\bstatic\b', words):
            continue
        function = re.search(r'\b(\w+) *\(', words)
        if function and function[1].isupper():
            continue                            # a list macro
        if function and '=' not in words:
            (declared if end == ';' else defined).add(function[1])
        elif re.match(r'extern\b', words):
            declared.update(re.findall(r'(\w+)(?:\[[^\]]*\])*\s*(?:,|$)', words))
        else:
            variable = re.match(r'\w+[\w\s*]*?\b(\w+)\s*(?:\[[^\]]*\])*\s*(?:=.*)?$', words, re.S)
            if variable and not re.match(r'(?:struct|enum|union) \w+$', words):
                defined.add(variable[1])
    return declared, defined


def module(name):
    return name[:-2]


def needs():
    """{module: {other: why}}"""
    sources = [n for tree in TREES for n in files(tree, r'\.[ch]$') if not n.startswith(UNTIDY)]
    known, graph, where = set(sources), {}, {}
    found = {name: names(read(name)) for name in sources}
    for name, (_, defined) in found.items():
        for word in defined:
            where.setdefault(word, set()).add(module(name))
    for name in sources:
        others = graph.setdefault(module(name), {})
        for quote, other in INCLUDE.findall(read(name)):
            for folder in (os.path.dirname(name),) + TREES:
                path = os.path.normpath(os.path.join(folder, other))
                if quote == '"' and path in known and module(path) != module(name):
                    others[module(path)] = None
                    break
        if name.endswith('.h'):
            for word in sorted(found[name][0]):
                owners = where.get(word, set())
                if owners and module(name) not in owners:
                    others[min(owners)] = f'{name} declares {word} of {min(owners)}.c'
    return graph


def circle(graph):
    """[module, ..., the same module], or nothing"""
    done = set()

    def walk(at, path):
        if at in path:
            return path[path.index(at):] + [at]
        if at not in done:
            done.add(at)
            for other in sorted(graph.get(at, ())):
                found = walk(other, path + [at])
                if found:
                    return found
        return None

    return next(filter(None, (walk(start, []) for start in sorted(graph))), None)


def wrong_modules():
    graph = needs()
    yield from (why for others in graph.values() for why in others.values() if why)
    found = circle({m: [o for o, why in others.items() if not why] for m, others in graph.items()})
    if found:
        yield 'a circle: ' + ' -> '.join(found)


# ---- guards and config.h ----

def wrong_guards():
    headers = [n for tree in GUARDED for n in files(tree, r'\.h$')]
    often = {os.path.basename(other) for tree in GUARDED for name in files(tree, r'\.[ch]$')
             for included in [[o for _, o in INCLUDE.findall(read(name))]]
             for other in included if included.count(other) > 1}
    for name in headers:
        path = re.sub('^(src|include)/', '', name)[:-2]
        want = re.sub('[^A-Z0-9]', '_', re.sub('^collopt$', '', path).upper())
        want = f'COLLOPT_{want}_H' if want else 'COLLOPT_H'
        text = without_comments(read(name)).strip()
        if not re.match(rf'#ifndef {want}\n#define {want}\n', text) \
                and not (os.path.basename(name) in often and f'{want[:-2]}' not in text):
            yield f'{name}: no guard {want}'


def wrong_config():
    for name in (n for tree in GUARDED for n in files(tree, r'\.[ch]$')):
        text = without_comments(read(name))
        first = INCLUDE.search(text)
        if re.search(r'include *<config\.h>|\bHAVE_CONFIG_H\b', text) or (
                name.endswith('.c') and name.startswith(('src/', 'tools/'))
                and not (first and first[2] == 'config.h')):
            yield f'{name}: does not begin with #include "config.h"'


def main(root):
    os.chdir(root)
    wrong = [*wrong_rooms(), *wrong_modules(), *wrong_guards(), *wrong_config()]
    print('\n'.join(wrong) or 'all in order')
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
