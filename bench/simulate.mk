# Simulated machines: bench/simulate, which runs this one program.

if COLLOPT_SMPI
BENCHES += bench/smpi/bench_simulate
check_DATA += bench/smpi/bench_simulate
endif
# The simulator's MPI_X are weak, and a weak reference fetches nothing from an archive; -u does.  It
# must see main, and it copies the program for every rank.
bench/smpi/bench_simulate: bench/programs/bench_simulate.c bench/lib/map.h libcollopt-core.la \
  libcollopt-smpi.a
	$(AM_V_at)$(MKDIR_P) bench/smpi
	$(AM_V_CC)$(SMPI_MPICC) $(AM_CPPFLAGS) -I$(srcdir)/bench $(CPPFLAGS) $(AM_CFLAGS) -O2 $(CFLAGS) \
	  -fvisibility=default -o $@ $(filter %.c,$^) $(LDFLAGS) -Wl,--strip-debug \
	  -Wl,-u,MPI_Allreduce libcollopt-smpi.a .libs/libcollopt-core.a $(HWLOC_LIBS) -lm -lpthread

TESTS += test/bench/simulate.sh
EXTRA_DIST += \
	bench/programs/bench_simulate.c \
	bench/platforms/dragonfly.xml \
	bench/platforms/dragonfly-1024.xml \
	bench/platforms/fat-tree.xml \
	bench/platforms/mesh-8x8.xml \
	bench/platforms/mesh-16x16.xml \
	bench/platforms/mesh-32x32.xml \
	bench/platforms/fat-tree.machine \
	bench/platforms/nodes-16.machine \
	bench/platforms/nodes-16.xml \
	bench/platforms/torus-4x4x4.xml \
	bench/platforms/torus-8x8.xml \
	bench/platforms/torus-8x8x8.xml \
	bench/platforms/torus-16x8x8.xml \
	bench/platforms/torus-16x16x16.xml \
	bench/simulate \
	test/bench/simulate.sh
