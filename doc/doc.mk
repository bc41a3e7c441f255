# Manual pages and documents.

dist_man_MANS += \
	doc/man/collopt.1 \
	doc/man/collopt.3 \
	doc/man/collopt.7 \
	doc/man/collopt-bench.1 \
	doc/man/collopt-info.1 \
	doc/man/collopt-plan.1 \
	doc/man/collopt-tune.1
# Names under which a page is looked for, too: one line, which leads to it.
man_MANS = \
	man/collopt_algorithm_count.3 \
	man/collopt_algorithm_name.3 \
	man/collopt_algorithm_summary.3 \
	man/collopt_calls.3 \
	man/collopt_calls_passed.3 \
	man/collopt_collective_name.3 \
	man/collopt_explain.3 \
	man/collopt_version.3
man_MANS += $(BENCH_HOSTS:%=man/collopt-bench-%.1)
man/collopt_%.3: Makefile
	$(AM_V_at)$(MKDIR_P) man
	$(AM_V_GEN)echo '.so man3/collopt.3' >$@
man/collopt-bench-%.1: Makefile
	$(AM_V_at)$(MKDIR_P) man
	$(AM_V_GEN)echo '.so man1/collopt-bench.1' >$@
CLEANFILES += $(man_MANS)

# As they lie here, so that links among them hold.
dist_doc_DATA += README.md NEWS COPYING HACKING.md
pagesdir = $(docdir)/doc
dist_pages_DATA = doc/algorithms.md doc/design.md doc/hosts.md doc/kernels.md doc/performance.md doc/report.md
picturesdir = $(docdir)/doc/pictures
dist_pictures_DATA = doc/pictures/simulated-nodes-16.svg doc/pictures/simulated-torus-4x4x4.svg \
	doc/pictures/two-ranks-mpich.svg doc/pictures/two-ranks-openmpi.svg
