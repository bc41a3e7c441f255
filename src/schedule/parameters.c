/* Parameters that are lists, packed into one value. */
#include "config.h"

#include "schedule/parameters.h"

size_t collopt_list_at(const struct collopt_parameter *q, size_t value, int i)
{
    int shift = i * q->list_bits, all = 8 * (int)sizeof value;

    return shift + q->list_bits > all ? 0 : value >> shift & (((size_t)1 << q->list_bits) - 1);
}

int collopt_list_length(const struct collopt_parameter *q, size_t value)
{
    int n = 0;

    while (collopt_list_at(q, value, n))
        n++;
    return n;
}

size_t collopt_list_product(const struct collopt_parameter *q, size_t value)
{
    size_t product = 1;

    for (int i = 0, n = collopt_list_length(q, value); i < n; i++)
        product *= collopt_list_at(q, value, i);
    return product;
}
