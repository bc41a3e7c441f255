/* What a backend answers to the functions of include/collopt.h. */
#ifndef COLLOPT_REPORT_PUBLIC_H
#define COLLOPT_REPORT_PUBLIC_H

#include "front/public.h"

extern const struct collopt_public collopt_public;

#endif
