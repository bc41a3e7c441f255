# Errors in memory: a program on each MPI library under valgrind; all under the sanitizers, by hand.

TESTS += test/sanitized/memcheck.sh
EXTRA_DIST += test/sanitized/judge.py test/sanitized/memcheck.sh test/sanitized/run

check-sanitized:
	COLLOPT_SOURCE='$(abs_top_srcdir)' $(SHELL) $(srcdir)/test/sanitized/run
.PHONY: check-sanitized
