"""Sphinx's settings for the manual pages and for the site; both are made from what stage.py has put
together.

Nothing is taken from the network, neither when the pages are made nor when they are read."""

import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, '../../tools/python'))
import colours

with open(os.environ['COLLOPT_STAGE'] + '/stage.json') as file:
    staged = json.load(file)

project = 'collopt'
author = 'The collopt authors'
release = version = staged['version']
today = staged['date']
root_doc = 'index'
extensions = ['myst_parser', 'roff']
myst_enable_extensions = ['deflist']
myst_heading_anchors = 4
highlight_language = 'none'
nitpicky = True
html_theme = 'collopt_theme'
html_theme_path = [here]
html_title = f'collopt {release}'
html_context = {'colours': colours.style()}
html_copy_source = False
# pages as they are, of the site only
html_extra_path = [path for path in [os.environ['COLLOPT_STAGE'] + '/extra'] if os.path.isdir(path)]
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = '#'
man_pages = [tuple(page) for page in staged['manual']]
exclude_patterns = staged['excluded']
# texts that other versions of Sphinx write differently
smartquotes = False


def setup(app):
    from pygments.lexers.special import TextLexer
    # What collopt says, in doc/manual/troubleshooting.md.
    app.add_lexer('message', TextLexer)
