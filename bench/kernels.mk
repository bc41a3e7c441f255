# bench_kernels-MPI: the kernels beside the MPI_Reduce_local of each MPI (make bench-kernels; not part of all).

EXTRA_DIST += bench/kernels.gp bench/kernel_targets.sh
CLEANFILES += kernel_targets.csv

if COLLOPT_OPENMPI
EXTRA_PROGRAMS += bench/bench_kernels-openmpi
bench_bench_kernels_openmpi_SOURCES = bench/bench_kernels.c
bench_bench_kernels_openmpi_CPPFLAGS = $(AM_CPPFLAGS) $(OPENMPI_CPPFLAGS)
bench_bench_kernels_openmpi_CFLAGS = $(AM_CFLAGS) -O2
bench_bench_kernels_openmpi_LDADD = libcollopt-kernels.la $(OPENMPI_LIBS)
endif

if COLLOPT_MPICH
EXTRA_PROGRAMS += bench/bench_kernels-mpich
bench_bench_kernels_mpich_SOURCES = bench/bench_kernels.c
bench_bench_kernels_mpich_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CPPFLAGS)
bench_bench_kernels_mpich_CFLAGS = $(AM_CFLAGS) -O2
bench_bench_kernels_mpich_LDADD = libcollopt-kernels.la $(MPICH_LIBS)
endif

bench-kernels: $(EXTRA_PROGRAMS) $(filter %/bench_local,$(BENCHES))

# What the kernels are to reach, and whether they do here: five minutes on a quiet machine.
bench-kernel-targets: bench-kernels libcollopt.la
	$(SHELL) $(srcdir)/bench/kernel_targets.sh
.PHONY: bench-kernels bench-kernel-targets
