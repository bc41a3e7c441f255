/* Binding: deciding what every name does. */
#ifndef COLLOPT_FRONT_BIND_H
#define COLLOPT_FRONT_BIND_H

struct collopt_binding;
struct collopt_optional;

/* Binds at the first call, which was made from CALLER; later ones get what was bound. OPTIONAL is
 * collopt_optional: this file does not know its callers. */
const struct collopt_binding *collopt_front_bind(const void *caller,
                                                 const struct collopt_optional *optional);
/* The same without an MPI call: NULL where there is no MPI (yet). */
const struct collopt_binding *collopt_front_bind_if_found(const struct collopt_optional *optional);

#endif
