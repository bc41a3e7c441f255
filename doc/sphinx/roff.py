"""Manual pages as a person would write them in man(7), for Sphinx's man builder.

The writer that comes with docutils defines macros of its own, of which mandoc warns, and writes
other roff with every version. This one knows the nodes that the pages of doc/manual have, and stops
at any other.
"""

import re
import textwrap

from docutils import nodes

WIDTH = 78


def escaped(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    for mark, name in (("'", 'aq'), ('`', 'ga'), ('^', 'ha'), ('~', 'ti')):
        text = text.replace(mark, '\\(' + name)
    return text


def placeholders(text):
    """The words in capitals that stand for something, in italics, inside bold text."""
    return re.sub(r'(?<![A-Za-z_])(?!COLLOPT|MPI|JSON)([A-Z][A-Z]+|N)(?![A-Za-z_])',
                  r'\\fI\1\\fB', text)


class Translator(nodes.GenericNodeVisitor):
    def __init__(self, document, builder):
        super().__init__(document)
        self.settings = document.settings
        self.builder = builder
        self.lines = []
        self.text = []          # the paragraph that is being gathered
        self.level = 0          # of sections
        self.nested = 0         # lists inside lists
        self.after = None       # the macro that the next paragraph starts with; None: .PP
        self.in_term = self.in_title = False

    def astext(self):
        s = self.settings
        head = ['.\\" Made from doc/manual by Sphinx; edit that.',
                f'.TH {s.title.upper()} {s.section} "{self.builder.config.today}" '
                f'"collopt {self.builder.config.release}"',
                '.SH NAME', f'{s.title} \\- {escaped(s.subtitle)}']
        return '\n'.join(head + self.lines) + '\n'

    # ---- what is written ----

    def macro(self, line):
        self.lines.append(line)

    def flush(self):
        """The text gathered so far, filled, one sentence after another."""
        text = ' '.join(''.join(self.text).split())
        self.text = []
        for sentence in re.split(r'(?<=[.:?]) (?=[A-Z\\])', text) if text else []:
            for line in textwrap.wrap(sentence, WIDTH, break_long_words=False,
                                      break_on_hyphens=False):
                self.macro('\\&' + line if line[0] in ".'" else line)

    def begin_paragraph(self):
        if self.after is None:
            self.macro('.PP')
        elif self.after:
            self.macro(self.after)
        self.after = '.IP' if self.nested else None

    # ---- the tree ----

    def default_visit(self, node):
        raise NotImplementedError(
            f'roff.py does not know <{node.tagname}>, in {node.source}:{node.line}')

    def default_departure(self, node):
        pass

    def visit_document(self, node):
        pass

    visit_compound = visit_start_of_file = visit_document

    def visit_comment(self, node):
        raise nodes.SkipNode

    visit_target = visit_index = visit_substitution_definition = visit_comment

    def visit_section(self, node):
        self.level += 1

    def depart_section(self, node):
        self.level -= 1

    def visit_title(self, node):
        if self.level == 1:             # that of the page, which .TH and NAME have
            raise nodes.SkipNode
        text = escaped(node.astext())
        self.macro('.SH ' + text.upper() if self.level == 2 else '.SS ' + text)
        self.after = ''
        raise nodes.SkipNode

    def visit_paragraph(self, node):
        self.begin_paragraph()

    def depart_paragraph(self, node):
        self.flush()

    # ---- lists ----

    def begin_list(self):
        if self.nested:
            self.macro('.RS')
        self.nested += 1

    def end_list(self):
        self.nested -= 1
        if self.nested:
            self.macro('.RE')
        self.after = '.IP' if self.nested else None

    def visit_bullet_list(self, node):
        self.begin_list()

    def depart_bullet_list(self, node):
        self.end_list()

    def visit_list_item(self, node):
        self.after = '.IP \\(bu 2'

    def visit_definition_list(self, node):
        self.begin_list()

    def depart_definition_list(self, node):
        self.end_list()

    def visit_definition_list_item(self, node):
        self.macro('.TP')

    def visit_term(self, node):
        self.in_term = True

    def depart_term(self, node):
        self.in_term = False
        self.macro(' '.join(''.join(self.text).split()))
        self.text = []

    def visit_definition(self, node):
        self.after = ''

    def visit_literal_block(self, node):
        if self.after is None:
            self.macro('.PP')
        elif self.after:
            self.macro(self.after)
        self.macro('.nf')
        for line in node.astext().rstrip('\n').expandtabs().split('\n'):
            line = escaped(line)
            self.macro('\\&' + line if line[:1] in ('.', "\\") or not line else line)
        self.macro('.fi')
        self.after = '.IP' if self.nested else None
        raise nodes.SkipNode

    # ---- inside a paragraph ----

    def visit_Text(self, node):
        text = escaped(node.astext())
        self.text.append(text)

    def visit_strong(self, node):
        self.text.append('\\fB')

    def depart_strong(self, node):
        self.text.append('\\fR')

    def visit_literal(self, node):
        text = escaped(node.astext())
        if len(node.astext()) < 24:
            text = text.replace(' ', '\\~')         # not "\\ ", which may be broken in two
        self.text.append('\\fB' + (placeholders(text) if self.in_term else text) + '\\fR')
        raise nodes.SkipNode

    def visit_emphasis(self, node):
        self.text.append('\\fI')

    def depart_emphasis(self, node):
        self.text.append('\\fR')

    def visit_inline(self, node):
        pass

    def visit_reference(self, node):
        pass


def setup(app):
    app.set_translator('man', Translator)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
