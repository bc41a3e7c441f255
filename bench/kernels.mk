# bench_kernels-MPI: the kernels beside the MPI_Reduce_local of each MPI (make bench-kernels; not
# part of all).

EXTRA_DIST += bench/kernels.gp bench/kernel_targets.sh
CLEANFILES += kernel_targets.csv

BENCH_KERNELS = $(BENCH_HOSTS:%=bench/bench_kernels-%)
CLEANFILES += $(BENCH_KERNELS)
EXTRA_DIST += bench/programs/bench_kernels.c
bench-kernels: $(BENCH_KERNELS) $(filter %/bench_local,$(BENCHES))

# The targets of the kernels, and whether they are met here: five minutes on a quiet machine.
bench-kernel-targets: bench-kernels libcollopt.la
	$(SHELL) $(srcdir)/bench/kernel_targets.sh
.PHONY: bench-kernels bench-kernel-targets
