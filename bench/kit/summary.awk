# Reads the output of best.awk; writes a line for each host, number of ranks and form, then one for
# each host.
BEGIN { FS = "," }

FNR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}

function count(key, ratio) {
    if (!(key in cells))
        order[++keys] = key
    cells[key]++
    logs[key] += log(ratio)
    if (!(key in least) || ratio < least[key])
        least[key] = ratio
    slower[key] += ratio < 0.95
}

# the columns before "algorithm", the only one that may hold a comma, and the last
{
    ratio = $(column["ratio"]) + 0
    host = $(column["host"])
    wrong += $NF != "correct"
    if (ratio > 0) {
        count(sprintf("%-8s %5d ranks  %-11s", host, $(column["ranks"]), $(column["form"])), ratio)
        if (!(host in sum_cells))
            host_order[++hosts] = host
        sum_logs[host] += log(ratio)
        sum_cells[host]++
    }
}

END {
    printf "%-33s %6s %9s %9s %9s\n", "", "cells", "mean", "minimum", "slower"
    for (i = 1; i <= keys; i++)
        printf "%-33s %6d %8.2fx %8.2fx %9d\n", order[i], cells[order[i]],
            exp(logs[order[i]] / cells[order[i]]), least[order[i]], slower[order[i]]
    for (i = 1; i <= hosts; i++)
        printf "%-33s %6d %8.2fx\n", host_order[i] ", all", sum_cells[host_order[i]],
            exp(sum_logs[host_order[i]] / sum_cells[host_order[i]])
    printf "%d wrong results\n", wrong
    print "mean: of the time of the host's best component / collopt's; slower: cells under 0.95x"
}
