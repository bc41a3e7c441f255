#!/usr/bin/env python3
"""Puts together what Sphinx reads: the pages of doc/manual with what tables in the code say, and
for the site the other documents.

    stage.py man|html SOURCE BUILD FOLDER

SOURCE and BUILD are the two trees; FOLDER is made anew.  The tools in BUILD are asked for
variables, algorithms and drawings.
"""

import json
import os
import re
import shutil
import subprocess
import sys

COLLECTIVES = ['allreduce', 'reduce', 'reduce_scatter', 'reduce_scatter_block', 'scan', 'exscan']
BREAK = '\u200b'        # where a line may end
SCOPES = {'all': 'Must be the same on all ranks.', 'set': 'Must be set on all ranks or on none.',
          'rank': ''}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def write(text, *path):
    name = os.path.join(*path)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)


def die(why):
    sys.exit(f'stage.py: {why}')


class Tools:
    """The tools of the build tree, in an environment that says nothing."""

    def __init__(self, build):
        self.folder = os.path.join(build, 'tools')

    def run(self, tool, *words, check=True):
        environment = {'PATH': os.environ['PATH'], 'XDG_CONFIG_HOME': '/nonexistent', 'LC_ALL': 'C'}
        done = subprocess.run([os.path.join(self.folder, tool), *words], env=environment,
                              capture_output=True, text=True)
        if check and done.returncode:
            die(f'{tool} {" ".join(words)}: {done.stderr}')
        return done.stdout if done.returncode == 0 else None

    def info(self):
        return json.loads(self.run('collopt-info', '--json'))


# ---- environment variables: a row from src/settings/settings.c, a paragraph from variables.md ----

VARIABLE = re.compile(r'^### (COLLOPT\w*)\n', re.M)


def variable_list(text, variables):
    """The page's parts: (group, name, paragraphs); an error unless each variable of the table has
    its place there."""
    rows = {v['name']: v for v in variables}
    named = VARIABLE.findall(text)
    missing, unknown = [n for n in rows if n not in named], [n for n in named if n not in rows]
    if missing or unknown or len(set(named)) < len(named):
        die(f'variables.md lacks {missing}, has {unknown} that src/settings/settings.c has not, '
            'or one twice')
    return rows


def man_variable(row, text):
    default = f' ({row["default"]})' if row['default'] else ''
    text, scope = text.strip(), SCOPES[row['ranks']]
    if not text.splitlines()[-1].startswith(('*', ' ')):
        body = (text + ' ' + scope).strip()
    else:
        body = text + ('\n\n' + scope if scope else '')
    lines = body.split('\n')
    return (f'`{row["name"]}=`*{row["values"]}*{default}\n: '
            + '\n'.join([lines[0]] + ['  ' + line if line else '' for line in lines[1:]]) + '\n\n')


def html_variable(row, text):
    default = f'`{row["default"]}`' if row['default'] else 'none'
    name, scope = row['name'], SCOPES[row['ranks']]
    values = f'`{name}={row["values"]}`\n: Default: {default}. {scope}'.strip()
    return f'### {name}\n\n{values}\n\n{text.strip()}\n\n'


def variables_page(text, variables, entry):
    rows = variable_list(text, variables)
    parts = VARIABLE.split(text)
    page = parts[0]
    for name, body in zip(parts[1::2], parts[2::2]):
        paragraphs, heading, rest = re.split(r'(?m)(?=^## )|\Z', body, maxsplit=1)[0], '', ''
        rest = body[len(paragraphs):]
        page += entry(rows[name], paragraphs) + heading + rest
    return page


def variables_table(variables):
    table = '| variable | values | default | meaning |\n|---|---|---|---|\n'
    for v in variables:
        values = v['values'].replace('|', '\\|' + BREAK)
        default = f'`{v["default"]}`' if v['default'] else ''
        name = f'[{v["name"]}](#{v["name"].lower()})'
        table += f'| {name} | `{values}` | {default} | {v["meaning"]} |\n'
    return table


# ---- manual pages ----

TITLE = re.compile(r'# (\S+)\((\d)\): (.*)\n')
TOCTREE = re.compile(r'(## [^\n]*\n\n)?```\{toctree\}\n(.*?)```\n', re.S)


def manual_pages(source):
    """(file, name, section, what it is) of each."""
    pages = []
    for name in sorted(os.listdir(os.path.join(source, 'doc/manual'))):
        title = (re.fullmatch(r'(.*)\.(\d)\.md', name)
                 and TITLE.match(read(source, 'doc/manual', name)))
        if title:
            pages.append((name[:-3], title[1], title[2], title[3]))
    return pages


def linked_pages(text):
    toctree = TOCTREE.search(text)
    return ([line for line in toctree[2].splitlines() if line and not line.startswith(':')]
            if toctree else [])


def plain_links(text, titles):
    """References to a manual page as man pages write them, to a part of this page by its
    heading."""
    text = re.sub(r'\[([\w-]+)\((\d)\)\]\([^)]*\)', r'**\1**(\2)', text)
    for name, title in titles.items():
        text = re.sub(r'\[[^]]*\]\(%s\.md(#[\w-]*)?\)' % re.escape(name), f'**{title.upper()}**',
                      text)
    return re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', text)


def stage_man(source, tools, folder, pages):
    variables = tools.info()['variables']
    for name, _, _, _ in pages:
        text = read(source, 'doc/manual', name + '.md')
        parts, titles = '', {}
        for part in linked_pages(text):
            body = read(source, 'doc/manual', part + '.md')
            if part == 'variables':
                body = variables_page(body, variables, man_variable).replace('@table\n\n', '')
            titles[part] = re.match(r'# (.*)\n', body)[1]
            parts += '\n' + re.sub(r'^#', '##', body, flags=re.M)
        text = TOCTREE.sub(lambda found: parts, text)
        write(plain_links(text, titles), folder, name + '.md')
    write('# Manual pages\n\n```{toctree}\n' + ''.join(page[0] + '\n' for page in pages) + '```\n',
          folder, 'index.md')


# ---- the catalogue ----

SHAPES = [['--ranks', '8'], ['--ranks', '8', '--nodes', '2'], ['--ranks', '8', '--node-ranks', '4'],
          ['--ranks', '9'], ['--ranks', '4']]
# Those that textbooks have, and one of nodes, move on a page of their own.
MOVING = ['binomial', 'recursive_doubling', 'recursive_halving', 'rabenseifner', 'ring', 'two_tree',
          'lanes']
PARAMETERS = ['', ':dims=4x2', ':net=(ring)', ':segment=64']


def drawing(tools, collective, name):
    """A schedule of few ranks as SVG and as a page that moves, and the command that drew it."""
    for parameters in PARAMETERS:
        for shape in SHAPES:
            words = [collective, '--algorithm', name + parameters, '--count', '64', *shape]
            text = tools.run('collopt-plan', *words, '--format', 'svg', check=False)
            if text:
                page = tools.run('collopt-plan', *words, '--format', 'html')
                return text, page, 'collopt-plan ' + ' '.join(words) + ' --format svg'
    die(f'collopt-plan draws no schedule of {collective} by {name}')
    return None


def size_text(n):
    """As collopt writes it: 65536 is 64K."""
    units = ['', 'K', 'M', 'G', 'T']
    while n and n % 1024 == 0 and len(units) > 1:
        n, units = n // 1024, units[1:]
    return f'{n}{units[0]}'


def entry(tools, a, folder):
    text, page, command = drawing(tools, a['collective'], a['name'])
    picture = f'{a["collective"]}-{a["name"]}.svg'
    moving = f'moving/{a["collective"]}-{a["name"]}.html'
    write(text, folder, 'catalogue', picture)
    link = ''
    if a['name'] in MOVING:
        write(page, folder, 'extra', moving)
        link = f'<a href="../{moving}">Step by step</a>\n\n'
    lines = [f'## {a["name"]}', '', a['summary'][0].upper() + a['summary'][1:] + '.', '',
             f'| operations | {"those that commute" if a["commutative_only"] else "any"} |',
             '|---|---|', f'| rounds on 64 ranks and on 60 | {a["rounds"]} |',
             f'| bytes there, in vectors | {a["vectors"]} |', f'| published by | {a["source"]} |']
    for p in a.get('parameters') or []:
        if p.get('algorithm_of'):
            values = f'an algorithm of {p["algorithm_of"]}, in parentheses'
        else:
            least, most = (size_text(p[end]) if p['bytes'] else p[end] for end in ('least', 'most'))
            values = f'{"each " if p["list"] else ""}{least} to {most}'
        lines.append(f'| parameter `{p["name"]}` | {p.get("meaning") or ""} ({values}) |')
    image = f'![Schedule of {a["collective"]} by {a["name"]}]({picture})'
    return '\n'.join(lines) + f'\n\n{image}\n\n{link}    {command}\n\n'


def stage_catalogue(tools, algorithms, folder):
    for collective in COLLECTIVES:
        text = (f'# MPI_{collective.capitalize()}\n\n'
                f'The algorithms for `COLLOPT_{collective.upper()}`, in the order in which '
                '[collopt-info(1)](../collopt-info.1.md) lists them. '
                '[Algorithms](../doc/algorithms.md) explains the terms.\n\n')
        for a in algorithms:
            if a['collective'] == collective:
                text += entry(tools, a, folder)
        write(text, folder, 'catalogue', collective + '.md')


# ---- the site ----

def stage_site(source, build, tools, folder):
    info = tools.info()
    for name in sorted(os.listdir(os.path.join(source, 'doc/manual'))):
        text = read(source, 'doc/manual', name).replace('](../../', '](').replace('](../', '](doc/')
        if name == 'variables.md':
            text = variables_page(text, info['variables'], html_variable)
            text = text.replace('@table\n', variables_table(info['variables']))
        write(text, folder, name)
    for name in ['README.md', 'HACKING.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md']:
        write(read(source, name), folder, name)
    for name in ['NEWS', 'COPYING']:
        write(f'# {name}\n\n````\n{read(source, name)}````\n', folder, name + '.md')
    for name in sorted(os.listdir(os.path.join(source, 'doc'))):
        if name.endswith('.md'):
            write(read(source, 'doc', name), folder, 'doc', name)
    shutil.copytree(os.path.join(source, 'doc/pictures'), os.path.join(folder, 'doc/pictures'))
    stage_catalogue(tools, info['algorithms'], folder)
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.md'):
                write(known_links(read(where, name), where, folder), where, name)


def known_links(text, where, folder):
    """Links to files that are no pages here are left out: only their words stay."""
    def known(found):
        words, target = found[1], found[2]
        if re.match(r'[a-z]+:|#', target):
            return found[0]
        mark = '!' if found[0].startswith('!') else ''
        path, _, anchor = target.partition('#')
        for ending in ['', '.md']:
            if os.path.isfile(os.path.join(where, path + ending)):
                return f'{mark}[{words}]({path}{ending}{"#" + anchor if anchor else ""})'
        if mark:
            die(f'{where}: there is no {path}')
        return words
    return re.sub(r'!?\[([^]\n]*)\]\(([^)\s]+)\)', known, text)


def main():
    kind, source, build, folder = sys.argv[1:]
    tools, pages = Tools(build), manual_pages(source)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if kind == 'man':
        stage_man(source, tools, folder, pages)
    else:
        stage_site(source, build, tools, folder)
    released = re.search(r'^ -- .*> +\w+, (\d+) (\w+) (\d+)',
                         read(source, 'packaging/debian/changelog'), re.M)
    month = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split().index(released[2]) + 1
    write(json.dumps({
        'version': read(source, 'VERSION').strip(),
        'date': f'{released[3]}-{month:02}-{int(released[1]):02}',
        'manual': [(name, page, what, [], section) for name, page, section, what in pages],
        'excluded': [],
    }), folder, 'stage.json')


main()
