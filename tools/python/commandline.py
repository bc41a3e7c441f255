"""Command lines of collopt compare, profile and doctor: options before the launcher."""

import getopt
import os
import re


class Wrong(Exception):
    """A mistake in the command line; the text says what would be right."""


def duration(text, option):
    """120, 120s, 5m, 1h."""
    match = re.match(r"^([0-9]+(?:\.[0-9]*)?)([smh]?)$", text)
    if not match or float(match.group(1)) <= 0:
        raise Wrong("%s: \"%s\" is not a time such as 120s, 5m or 1h" % (option, text))
    return float(match.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600}[match.group(2)]


def number(text, option, least, most):
    if not re.match(r"^[0-9]{1,9}$", text) or not least <= int(text) <= most:
        raise Wrong("%s: \"%s\" is not a whole number from %d to %d" % (option, text, least, most))
    return int(text)


def percent(text, option):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 100:
        raise Wrong("%s: \"%s\" is not a number of percent, 0 to 100" % (option, text))
    return value / 100


def regex(text, option, groups):
    """GROUPS: how many it must have; None: any number."""
    try:
        pattern = re.compile(text.encode(), re.MULTILINE)
    except re.error as error:
        raise Wrong("%s: \"%s\" is not a regular expression: %s" % (option, text, error))
    if groups is not None and pattern.groups != groups:
        raise Wrong("%s: \"%s\" needs one group in parentheses, which is the number"
                    % (option, text))
    return pattern


def one_of(text, option, words):
    if text not in words:
        raise Wrong("%s: \"%s\" is not %s or %s" % (option, text, ", ".join(words[:-1]), words[-1]))
    return text


def file_to_write(name, option):
    """Runs take long: what could not be written at the end is told before."""
    folder = os.path.dirname(os.path.abspath(name))
    if os.path.isdir(name):
        raise Wrong("%s %s: it is a directory; give the name of a file" % (option, name))
    if name != "-" and (not os.path.isdir(folder)
                        or not os.access(name if os.path.exists(name) else folder, os.W_OK)):
        raise Wrong("%s %s: it cannot be written there" % (option, name))
    return name


def split(subcommand, words, short, long):
    """The options before the command, and the command."""
    try:
        return getopt.getopt(words, short, long)
    except getopt.GetoptError as error:
        option = ("-" if len(error.opt) == 1 else "--") + error.opt
        if "requires" in error.msg:
            raise Wrong("%s needs a value; see collopt %s --help" % (option, subcommand))
        raise Wrong("unknown option %s; see collopt %s --help" % (option, subcommand))
