"""collopt compare, profile, doctor and demo.

The shell script collopt starts this and says where things are: itself, the folder of helper
programs, the library, the folder of the other tools, its version, the subcommand and its words.

Python and not C or the shell, as these start jobs, read JSON and write pages, on login nodes, where
there is a Python; its standard library only.  What runs on other nodes is sh and C (doctor.py). """

import os
import sys

import commandline
import jobs
import output
import reports


class Place:
    """Where collopt is."""

    def __init__(self, collopt, helpers, library, tools, version, said):
        self.collopt, self.helpers, self.library = collopt, helpers, library
        self.tools, self.version = tools, version
        self.said = said            # the options before the subcommand, as the shell reads them


def tool_of(name):
    if name == "compare":
        import compare as tool
    elif name == "profile":
        import predict as tool
    elif name == "demo":
        import demo as tool
    else:
        import doctor as tool
    return tool


def run(place, name, words):
    """HELP and VERSION of the tool, or its work."""
    tool = tool_of(name)
    options = tool.Options()
    given, options.command = commandline.split(name, words, tool.SHORT, tool.LONG)
    options.words = [word for word in words[:len(words) - len(options.command)] if word != "--"]
    for option, value in given:
        if option == "--help":
            sys.stdout.write(tool.HELP)
            return 0
        if option == "--version":
            print("collopt %s %s" % (name, place.version))
            return 0
        options.take(option, value)
    options.check()
    return tool.work(place, options)


def main(place, name, words):
    os.environ.pop("COLLOPT_TOOL_VERSION", None)
    jobs.catch_signals()
    try:
        return run(place, name, words)
    except commandline.Wrong as error:
        sys.stderr.write("collopt %s: %s\n" % (name, error))
        return 2
    except reports.BadReport as error:
        sys.stderr.write("collopt %s: %s\n" % (name, error))
        return 3
    except jobs.Interrupted as why:
        sys.stdout.flush()
        jobs.die_of(why.number)


sys.exit(output.guard("collopt " + sys.argv[7],
                      lambda: main(Place(*sys.argv[1:7]), sys.argv[7], sys.argv[8:]), 1))
