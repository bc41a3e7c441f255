/* The front's binding: first calls of several threads at once, and a thread that asks whether there
 * is an MPI library yet. */
#include <dlfcn.h>

#define dlsym(handle, name) NULL
#include "front/bind.c"

enum { ANSWER = 7 };

_Atomic(const struct collopt_binding *) collopt_bound;
const char *const collopt_front_names[] = { [0 ... COLLOPT_NAME_COUNT - 1] = "MPI_X" };
static char program;
static struct collopt_optional none;

/* It is seen from the program alone. */
bool collopt_find_mpi(const void *caller, struct collopt_mpi *mpi)
{
    mpi->unsupported = ANSWER;
    return caller == &program;
}

struct collopt_span collopt_span_of(const void *address)
{
    return (struct collopt_span){ (uintptr_t)address, (uintptr_t)address + 1 };
}

void collopt_front_warn(const char *format, ...)
{
    (void)format;
}

void collopt_show_as_there(const struct collopt_optional *optional,
                           const bool there[COLLOPT_NAME_COUNT][2])
{
    (void)optional, (void)there;
}

void collopt_stand_around_tools(const struct collopt_binding *b, struct collopt_front_table *front)
{
    (void)b, (void)front;
}

void collopt_go_by_tools(struct collopt_binding *b)
{
    (void)b;
}

static void begin(void)
{
    collopt_bound = NULL;
}

static void use(const struct collopt_binding *b)
{
    explore_check(b->unsupported == ANSWER, "a binding is not whole");
}

static void call(void)
{
    const struct collopt_binding *b = collopt_binding();

    use(b ? b : collopt_front_bind(&program, &none));
}

static void ask(void)
{
    const struct collopt_binding *b = collopt_front_bind_if_found(&none);

    if (b)
        use(b);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "binding", begin, { call, call, ask }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
