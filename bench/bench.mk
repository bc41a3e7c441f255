# Benches on a real MPI, built for each into bench/<mpi>/ by `make benches`.

MPI_BENCHES = bench_cost bench_local bench_messages collopt-bench guidelines lifetimes training

BENCHES = $(foreach host,$(BENCH_HOSTS),$(MPI_BENCHES:%=bench/$(host)/%))

# How all of them measure.
BENCH_SHARED = bench/bench_mpi.c bench/bench_mpi.h bench/clock.c bench/measure.c bench/measure.h bench/statistics.c \
	bench/statistics.h

# What collopt-bench and guidelines are made of besides.
COLLOPT_BENCH_PARTS = src/json.c src/json.h bench/cells.c bench/cells.h bench/map.h bench/options.c bench/options.h bench/problem.c bench/problem.h \
	bench/provenance.c bench/provenance.h
COLLOPT_BENCH_OWN = bench/machine.c bench/machine.h bench/runner.c bench/runner.h bench/serve.c bench/serve.h

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

# Needs no MPI.
EXTRA_PROGRAMS += bench/bench_build
bench_bench_build_SOURCES = bench/bench_build.c src/formula.c src/formula.h
bench_bench_build_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

.PHONY: benches
benches: $(BENCHES) bench/bench_build$(EXEEXT)

CLEANFILES += $(BENCHES)
EXTRA_DIST += \
	$(MPI_BENCHES:%=bench/%.c) \
	$(BENCH_SHARED) $(filter bench/%,$(COLLOPT_BENCH_PARTS)) $(COLLOPT_BENCH_OWN) \
	bench/summary \
	test/bench/collopt-bench.sh \
	test/bench/spoil.c \
	test/bench/summary.sh \
	test/bench/test_measure.c

check_PROGRAMS += test/bench/test_statistics
check_DATA += $(INSTALLED_BENCHES)
TESTS += \
	test/bench/collopt-bench.sh \
	test/bench/summary.sh \
	test/bench/test_statistics
test_bench_test_statistics_SOURCES = test/bench/test_statistics.c bench/statistics.c bench/statistics.h
test_bench_test_statistics_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench
test_bench_test_statistics_LDADD = -lm
