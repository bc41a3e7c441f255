/* collopt-bench --serve: measures what it is asked for, one cell at a time, for collopt-tune.
 *
 * Rank 0 reads its standard input and answers on its standard output, so nothing but these two has
 * to lead from the ranks to whoever asks.  An answer is a line with "@collopt " before it;
 * launchers write other lines, and may put something before that.
 *
 *     about TEXT                  several: where the figures will come from
 *     ready VERSION LOADED RANKS CROWDED LEADER,...
 *                                 behind them: is collopt loaded; do ranks outnumber processors;
 *                                 for each rank the first rank that shares memory with it
 *
 *     > cell COLLECTIVE OPERATION TYPE BYTES ALGORITHM SECONDS HOPELESS
 *                                 ALGORITHM as COLLOPT_ALLREDUCE has it, or auto; the last two as
 *                                 in struct bench_effort
 *     cell COLLECTIVE OPERATION BYTES ALGORITHM RAN HOST_US US RATIO LOW HIGH PAIRS RESULT
 *                                 RESULT: correct, WRONG, WRONG-HOST
 *     none COLLECTIVE OPERATION BYTES ALGORITHM
 *                                 it cannot serve this here
 *
 *     > verify COLLECTIVE OPERATION TYPE BYTES ALGORITHM SECONDS
 *                                 ALGORITHM, or host, against what collopt takes without being told
 *     verify COLLECTIVE OPERATION BYTES ALGORITHM RATIO LOW HIGH PAIRS RESULT
 *                                 RATIO: so many times as fast; or none, as above
 *
 *     > machine SECONDS           what messages and combining cost
 *     machine KEY VALUE LOW HIGH  several, of machine.h
 *     machine end
 *
 *     > end                       or the end of the input
 *
 *     wrong TEXT                  a line that is not understood */
#ifndef COLLOPT_TOOLS_BENCH_SERVE_H
#define COLLOPT_TOOLS_BENCH_SERVE_H

void serve(int argc, char **argv);

#endif
