# What the backends are made of. The algorithms and the kernels have lists of their own.

# The part without MPI: libcollopt-core.la.
COLLOPT_CORE_SOURCES = \
	src/arithmetic.h \
	src/bind.c \
	src/choice.c \
	src/compile.c \
	src/contents.c \
	src/contents.h \
	src/counters.c \
	src/depend.c \
	src/expression.c \
	src/hash.h \
	src/hosts.c \
	src/hosts.h \
	src/inplace.c \
	src/inside.c \
	src/inside.h \
	src/internal.h \
	src/json.c \
	src/json.h \
	src/lines.c \
	src/lines.h \
	src/log.c \
	src/lower.c \
	src/memo.c \
	src/memo.h \
	src/partition.c \
	src/phase.c \
	src/piecewise.c \
	src/places.c \
	src/public.c \
	src/quirks.c \
	src/quirks.h \
	src/registry.c \
	src/replay.c \
	src/replay.h \
	src/report.c \
	src/schedule.c \
	src/schedule.h \
	src/schedule_parts.h \
	src/select/candidates.c \
	src/select/choose.c \
	src/select/choose.h \
	src/select/fingerprint.c \
	src/select/host_times.c \
	src/select/host_times.h \
	src/select/lessons.c \
	src/select/lessons.h \
	src/select/machine.c \
	src/select/machine.h \
	src/select/cuts.c \
	src/select/measured.c \
	src/select/model.c \
	src/select/model.h \
	src/select/outside.c \
	src/select/remembered.c \
	src/select/reproducible.c \
	src/select/reproducible.h \
	src/select/rules.c \
	src/select/rules.h \
	src/select/rental.c \
	src/select/rental.h \
	src/select/select.c \
	src/select/trials.c \
	src/select/trials.h \
	src/settings.c \
	src/shm/channel.c \
	src/shm/channel.h \
	src/shm/segment.c \
	src/shm/segment.h \
	src/storage.c \
	src/topology.c \
	src/views.c

# The part with MPI: compiled for each host.
COLLOPT_BACKEND_SOURCES = \
	src/adapt.c \
	src/agree.c \
	src/built.c \
	src/call.h \
	src/check.c \
	src/comm.c \
	src/context.c \
	src/context.h \
	src/dispatch.c \
	src/entry.c \
	src/execute.c \
	src/facts.c \
	src/gpu.c \
	src/gpu.h \
	src/gpu_runtimes.c \
	src/handles.c \
	src/hand_over.c \
	src/host.c \
	src/host.h \
	src/info.c \
	src/life.c \
	src/p2p.c \
	src/plan.c \
	src/reduce_local.c \
	src/shm/transport.c \
	src/shm/transport.h \
	src/sight.c \
	src/sight.h \
	src/stage.c \
	src/survey.c \
	src/tolerance.c \
	src/wait.c \
	src/world.c \
	src/world.h

# The functions of include/collopt.h: in the front and in the static archives.
COLLOPT_PUBLIC_SOURCES = \
	src/public.h \
	src/public_names.c
