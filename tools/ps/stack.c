/* Stacks by eu-stack or gdb; see stack.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ps/stack.h"

enum { NOT_INSTALLED = 127 };

/* Its standard error output only names symbols that it lacks. */
static int run(const char *const *words)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "r", stdin) && freopen("/dev/null", "w", stderr))
            execvp(words[0], (char *const *)words);
        _exit(NOT_INSTALLED);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return NOT_INSTALLED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

enum stack stack_print(int pid)
{
    char number[16];
    const char *eu_stack[] = { "eu-stack", "-p", number, NULL };
    const char *gdb[] = { "gdb", "-nx", "-batch", "-p", number, "-ex", "thread apply all bt",
                          NULL };
    int status;

    snprintf(number, sizeof number, "%d", pid);
    status = run(eu_stack);
    if (status == NOT_INSTALLED)
        status = run(gdb);
    if (status == NOT_INSTALLED)
        return STACK_NO_DEBUGGER;
    return status == 0 ? STACK_PRINTED : STACK_REFUSED;
}
