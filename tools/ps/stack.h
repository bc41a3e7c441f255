/* The stacks of processes, by a debugger that is installed. */
#ifndef COLLOPT_TOOLS_PS_STACK_H
#define COLLOPT_TOOLS_PS_STACK_H

enum stack { STACK_PRINTED, STACK_REFUSED, STACK_NO_DEBUGGER };
/* Prints the stacks of the threads of PID. */
enum stack stack_print(int pid);

#endif
