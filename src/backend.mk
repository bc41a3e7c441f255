# What the backends are made of.

# The part without MPI: libcollopt-core.la.
COLLOPT_CORE_SOURCES = \
	src/expression.c \
	src/inplace.c \
	src/internal.h \
	src/log.c \
	src/lower.c \
	src/partition.c \
	src/schedule.c \
	src/schedule.h \
	src/schedule_parts.h \
	src/storage.c \
	$(ALGORITHM_SOURCES)

# The part with MPI: compiled for each host.
COLLOPT_BACKEND_SOURCES = \
	src/host.c \
	src/host.h

# The functions of include/collopt.h: in the front and in the static archives.
COLLOPT_PUBLIC_SOURCES = \
	src/public.h \
	src/public_names.c
