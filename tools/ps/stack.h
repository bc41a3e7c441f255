/* The stacks of processes, by a debugger that is installed. */
#ifndef COLLOPT_TOOLS_PS_STACK_H
#define COLLOPT_TOOLS_PS_STACK_H

#include <stdbool.h>

/* Prints the stacks of the threads of PID; false: nothing that could is installed, or it failed. */
bool stack_print(int pid);

#endif
