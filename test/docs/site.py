#!/usr/bin/env python3
"""Checks a folder of HTML: links and their anchors exist, addresses elsewhere have the right form,
nothing is loaded from elsewhere.

    site.py FOLDER
"""

import os
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADED = {('script', 'src'), ('link', 'href'), ('img', 'src'), ('iframe', 'src'), ('source', 'src'),
          ('object', 'data')}
ELSEWHERE = re.compile(r'https?://[\w-]+(\.[\w-]+)+(:\d+)?(/[\w%~#?=&.+:@,;()!$*\'/-]*)?')


class Page(HTMLParser):
    def __init__(self, name):
        super().__init__()
        self.name, self.ids, self.links, self.complaints = name, set(), [], []
        self.headings, self.lang = 0, None
        with open(name, encoding='utf-8') as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == 'html':
            self.lang = given.get('lang')
        self.headings += tag == 'h1'
        if given.get('id'):
            if given['id'] in self.ids:
                self.complaints.append(f'id "{given["id"]}" is there twice')
            self.ids.add(given['id'])
        if tag == 'img' and not given.get('alt'):
            self.complaints.append(f'picture {given.get("src")} has no words for those who cannot '
                                   'see it')
        for name in ('href', 'src', 'data', 'action'):
            if given.get(name):
                self.links.append((tag, name, given[name]))


def main():
    folder = sys.argv[1]
    pages = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.html'):
                path = os.path.normpath(os.path.join(where, name))
                pages[path] = Page(path)
    complaints, links = [], 0
    for path, page in pages.items():
        short = os.path.relpath(path, folder)
        complaints += [f'{short}: {c}' for c in page.complaints]
        if not page.lang:
            complaints.append(f'{short}: no language')
        if page.headings != 1:
            complaints.append(f'{short}: {page.headings} headings of the first level')
        for tag, name, link in page.links:
            links += 1
            parts = urlsplit(link)
            if parts.scheme or link.startswith('//'):
                if (tag, name) in LOADED:
                    complaints.append(f'{short}: loads {link}')
                elif parts.scheme == 'mailto':
                    continue
                elif not ELSEWHERE.fullmatch(link):
                    complaints.append(f'{short}: {link} is no address')
                continue
            target = (os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
                      if parts.path else path)
            if not os.path.isfile(target):
                complaints.append(f'{short}: there is no {link}')
            elif (parts.fragment and target in pages
                  and unquote(parts.fragment) not in pages[target].ids):
                complaints.append(f'{short}: there is no {link}')
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.css'):
                with open(os.path.join(where, name), encoding='utf-8') as file:
                    loads = re.findall(r'(?:url\(|@import )[\'"]?((?:https?:)?//[^\'")]*)',
                                       file.read())
                complaints += [f'{name}: loads {found}' for found in loads]
    for complaint in complaints:
        print('FAIL:', complaint)
    print(f'{len(pages)} pages, {links} links, {len(complaints)} complaints')
    return 1 if complaints or len(pages) < 30 or links < 500 else 0


sys.exit(main())
