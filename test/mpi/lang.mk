# Programs in other languages, and programs of others: Fortran by its three bindings, mpi4py, hpcc.

FORTRAN_FAMILIES = $(foreach host,$(FORTRAN_HOSTS), \
	$(FORTRAN_BINDINGS:%=test/mpi/fortran/$(host)/family_%) \
	$(FORTRAN_BINDINGS:%=test/mpi/fortran/$(host)/errors_%))

# Without an interface (mpif.h) one procedure is called with buffers of different types, which only
# old Fortran allows.
FORTRAN_BINDINGS = mpifh mpi mpif08
FORTRAN_mpifh = -DUSE_MPIF_H -std=legacy -w
FORTRAN_mpi = -DUSE_MPI -std=legacy -w
FORTRAN_mpif08 = -DUSE_MPI_F08
FORTRAN_FLAGS = -g -O1 -I$(srcdir)/test/mpi/fortran

test/mpi/fortran/counters.o: test/mpi/fortran/counters.c include/collopt.h
	$(AM_V_at)$(MKDIR_P) test/mpi/fortran
	$(AM_V_CC)$(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) -g -O1 -fPIC -c -o $@ $<

LANGUAGE_TESTS = \
	test/mpi/hpcc.sh \
	test/mpi/python/preload.sh \
	test/mpi/python/profile.sh \
	test/mpi/python/wheel.sh

FORTRAN_TESTS = $(FORTRAN_HOSTS:%=test/mpi/fortran/%.sh)
$(FORTRAN_TESTS): test/mpi/fortran/%.sh: Makefile
	$(AM_V_at)$(MKDIR_P) test/mpi/fortran
	$(AM_V_GEN)echo 'host=$*; . "$${COLLOPT_SOURCE:-.}/test/mpi/fortran/check.sh"' >$@

TESTS += $(LANGUAGE_TESTS)
check_DATA += $(FORTRAN_FAMILIES)
CLEANFILES += $(FORTRAN_FAMILIES) $(FORTRAN_TESTS) test/mpi/fortran/counters.o
EXTRA_DIST += \
	$(LANGUAGE_TESTS) \
	test/mpi/fortran/binding.inc \
	test/mpi/fortran/check.sh \
	test/mpi/fortran/counters.c \
	test/mpi/fortran/errors.F90 \
	test/mpi/fortran/family.F90 \
	test/mpi/fortran/family.inc \
	test/mpi/hpccinf.txt \
	test/mpi/lang.sh \
	test/mpi/python/check.sh \
	test/mpi/python/family.py
