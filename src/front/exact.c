/* The exact sums of include/collopt.h by their exported names, forwarded to the backend; see
 * public.h. */
#include "config.h"

#define COLLOPT_API __attribute__((visibility("default")))
#include "collopt.h"
#include "front/bind.h"
#include "front/binding.h"
#include "front/calls.h"
#include "front/public.h"

enum { NO_MPI = -1 };

static const struct collopt_exact_functions *functions(void)
{
    const struct collopt_binding *b = collopt_front_bind_if_found(collopt_optional);

    return b && b->backend ? b->backend->exact : NULL;
}

int collopt_exact_sum(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                      const void *y, ptrdiff_t y_stride, void *result, int comm)
{
    const struct collopt_exact_functions *f = functions();

    return f ? f->sum(operation, type, n, x, x_stride, y, y_stride, result, comm) : NO_MPI;
}

int collopt_exact_sum_start(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                            const void *y, ptrdiff_t y_stride, void *result, int comm,
                            struct collopt_exact_request **request)
{
    const struct collopt_exact_functions *f = functions();

    *request = NULL;
    return f ? f->start(operation, type, n, x, x_stride, y, y_stride, result, comm, request)
             : NO_MPI;
}

int collopt_exact_sum_test(struct collopt_exact_request **request, int *done)
{
    const struct collopt_exact_functions *f = functions();

    return f ? f->test(request, done) : NO_MPI;
}

int collopt_exact_sum_wait(struct collopt_exact_request **request)
{
    const struct collopt_exact_functions *f = functions();

    return f ? f->wait(request) : NO_MPI;
}
