# Which component of the MPI library is the fastest in each cell: reads lines of collopt-bench whose
# setting is "HOST COMPONENT", writes for each host and cell that of the least peer_us, as CSV.

# The fields of a line, some in quotes, as FIELD[1] ...
function fields_of(line,    n, c, i, quoted) {
    split("", field)
    n = 1
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            n++
        else
            field[n] = field[n] c
    }
    return n
}

function value(name) {
    return field[column[name]]
}

/^#/ { next }

!known {
    known = fields_of($0)
    for (i = 1; i <= known; i++)
        column[field[i]] = i
    print "host,component,peer,collective,operation,type,form,ranks,bytes,peer_us,collopt_us," \
        "ratio,algorithm,result"
    next
}

{
    fields_of($0)
    split(value("setting"), setting, " ")
    key = setting[1] "," value("collective") "," value("operation") "," value("form") "," \
        value("ranks") "," value("bytes")
    if (!(key in best)) {
        order[++cells] = key
        result[key] = "correct"
    }
    if (value("result") != "correct")
        result[key] = value("result")
    if (!(key in best) || value("peer_us") + 0 < best[key]) {
        best[key] = value("peer_us") + 0
        line[key] = setting[1] "," setting[2] "," value("peer") "," value("collective") "," \
            value("operation") "," value("type") "," value("form") "," value("ranks") "," \
            value("bytes") "," value("peer_us") "," value("collopt_us") "," value("ratio") ",\"" \
            value("algorithm") "\""
    }
}

END {
    for (i = 1; i <= cells; i++)
        print line[order[i]] "," result[order[i]]
}
