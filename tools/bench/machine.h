/* Costs of messages and of combining on this machine, in the form that the cost model takes
 * (COLLOPT_MACHINE, collopt(7)). */
#ifndef COLLOPT_TOOLS_BENCH_MACHINE_H
#define COLLOPT_TOOLS_BENCH_MACHINE_H

/* Hears of one number: seconds, bytes per second, bytes, nodes or a ratio; the quartiles of what
 * was measured. */
typedef void bench_machine_tell(const char *key, double value, double low, double high);

/* Collective over MPI_COMM_WORLD; LEADER[r]: the first rank on the node of rank r, on all ranks.
 * It takes SECONDS, about. TELL is called on all ranks alike, for what can be measured where they
 * are: "node..." takes two ranks on a node, "net..." two nodes, "net.group" and "net.taper" four of
 * which far ones take longer, or 128. */
void bench_machine(const int *leader, double seconds, bench_machine_tell *tell);

#endif
