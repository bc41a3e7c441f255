# Makes a C table of what doc/manual/variables.md says of each variable, for collopt-info
# --variable: a line of text for each paragraph and each item of a list, without Markdown's marks.

function quoted(line)
{
    while (match(line, /\[[^]]*\]\([^)]*\)/)) {         # a link: its words
        link = substr(line, RSTART, RLENGTH)
        words = substr(link, 2, index(link, "](") - 2)
        line = substr(line, 1, RSTART - 1) words substr(line, RSTART + RLENGTH)
    }
    gsub(/`|\*\*/, "", line)
    gsub(/\\/, "\\\\", line)
    gsub(/"/, "\\\"", line)
    return line
}

function end_paragraph()
{
    if (name && text)
        printf "      \"%s\\n\"\n", quoted(text)
    text = ""
}

function end_variable()
{
    end_paragraph()
    if (name)
        print "    },"
    name = ""
}

BEGIN {
    print "/* Made from doc/manual/variables.md by tools/info/variables.awk. */"
    print "#include \"info/variables.h\"\n"
    print "const struct variable_text variable_texts[] = {"
}
/^##? / { end_variable(); next }
/^### / { end_variable(); name = $2; printf "    { \"%s\",\n", name; next }
/^$/ { end_paragraph(); next }
/^\* / { end_paragraph() }
name { sub(/^ +/, ""); text = text (text ? " " : "") $0 }
END {
    end_variable()
    print "    { 0, 0 }\n};"
}
