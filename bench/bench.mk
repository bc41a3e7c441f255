# Benches on a real MPI, built for each into bench/<mpi>/ by `make benches`.

MPI_BENCHES = bench_cost bench_local bench_messages bench_totals collopt-bench device_memory \
	exact_sum guidelines overlap training

BENCHES = $(foreach host,$(BENCH_HOSTS),$(MPI_BENCHES:%=bench/$(host)/%))

# How all of them measure.
BENCH_SHARED = bench/lib/bench_mpi.c bench/lib/bench_mpi.h bench/lib/clock.c bench/lib/clock.h \
	bench/lib/measure.c bench/lib/measure.h bench/lib/statistics.c bench/lib/statistics.h

# Further sources of collopt-bench, guidelines and overlap.
COLLOPT_BENCH_PARTS = src/base/json.c src/base/json.h src/base/text.c src/base/text.h \
	bench/lib/cells.c bench/lib/cells.h bench/lib/map.h \
	bench/lib/options.c bench/lib/options.h bench/lib/problem.c bench/lib/problem.h \
	bench/lib/provenance.c bench/lib/provenance.h
COLLOPT_BENCH_OWN = tools/bench/collopt-bench.c tools/bench/machine.c tools/bench/machine.h \
	tools/bench/runner.c tools/bench/runner.h tools/bench/serve.c tools/bench/serve.h \
	tools/shared/output.c tools/shared/output.h
BENCH_COMPILE = $(CC) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) -I$(srcdir)/bench -I$(srcdir)/tools \
	-Itools $(CPPFLAGS) $(AM_CFLAGS) -g -O2 $(CFLAGS)

# Its plain loops are compiled as kernels are.
$(filter %/bench_totals,$(BENCHES)): AM_CFLAGS += $(COLLOPT_KERNEL_CFLAGS)

# Installed with the name of the MPI whose programs and launchers it belongs to.
INSTALLED_BENCHES = $(filter %/collopt-bench,$(BENCHES))
all-local: $(INSTALLED_BENCHES)
install-exec-local: $(INSTALLED_BENCHES)
	$(MKDIR_P) '$(DESTDIR)$(bindir)'
	for bench in $(INSTALLED_BENCHES:bench/%/collopt-bench=%); do \
	  name=`echo collopt-bench-$$bench | $(SED) '$(transform)'`; \
	  $(INSTALL_PROGRAM) bench/$$bench/collopt-bench '$(DESTDIR)$(bindir)'/$$name || exit 1; \
	done
uninstall-local:
	for bench in $(INSTALLED_BENCHES:bench/%/collopt-bench=%); do \
	  name=`echo collopt-bench-$$bench | $(SED) '$(transform)'`; \
	  rm -f '$(DESTDIR)$(bindir)'/$$name; \
	done

# This needs no MPI.
EXTRA_PROGRAMS += bench/node_counts
bench_node_counts_SOURCES = bench/programs/node_counts.c tools/shared/replay.c tools/shared/replay.h
bench_node_counts_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
bench_node_counts_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

.PHONY: benches
benches: $(BENCHES) bench/node_counts$(EXEEXT)

CLEANFILES += $(BENCHES)
EXTRA_DIST += \
	$(patsubst %,bench/programs/%.c,$(filter-out collopt-bench,$(MPI_BENCHES))) \
	$(BENCH_SHARED) $(filter bench/%,$(COLLOPT_BENCH_PARTS)) $(COLLOPT_BENCH_OWN) \
	bench/lib/chart.py bench/lib/cuda.c bench/lib/cuda.h \
	bench/figures \
	bench/nodes/a64fx-48.machine \
	bench/nodes/epyc-7742-2x64.machine \
	bench/nodes/grace-4x72.machine \
	bench/nodes/grace-72.machine \
	bench/nodes/xeon-8480-2x56.machine \
	bench/overview \
	bench/picture \
	bench/pictures \
	bench/report_cost \
	bench/summary \
	bench/tables \
	bench/timeline \
	test/bench/collopt-bench.sh \
	test/bench/overlap.sh \
	test/bench/spoil.c \
	test/bench/summary.sh \
	test/bench/tables.sh \
	test/bench/test_measure.c

check_PROGRAMS += test/bench/test_statistics
check_DATA += $(INSTALLED_BENCHES) $(filter %/overlap,$(BENCHES))
TESTS += \
	test/bench/collopt-bench.sh \
	test/bench/overlap.sh \
	test/bench/summary.sh \
	test/bench/tables.sh \
	test/bench/test_statistics
test_bench_test_statistics_SOURCES = test/bench/test_statistics.c \
	bench/lib/statistics.c bench/lib/statistics.h
test_bench_test_statistics_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench
test_bench_test_statistics_LDADD = -lm
