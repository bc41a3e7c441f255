# Manual pages, the site and documents. The text of the first two is in doc/manual;
# doc/sphinx/stage.py adds what tables in the code say, and Sphinx makes doc/man/* and, by
# `make site`, doc/site in the build tree.

MANUAL_PAGES = \
	doc/man/collopt.1 \
	doc/man/collopt.3 \
	doc/man/collopt.7 \
	doc/man/collopt-bench.1 \
	doc/man/collopt-info.1 \
	doc/man/collopt-plan.1 \
	doc/man/collopt-ps.1 \
	doc/man/collopt-report.1 \
	doc/man/collopt-tune.1
# Parts of collopt(7), and pages of the site only.
MANUAL_PARTS = adapting checking files groups hosts info-keys machine reproducibility rules \
	variables
SITE_PAGES = index first-job time-in-allreduce timeline tuning-a-site explaining hangs \
	troubleshooting figures
MANUAL_INPUT = \
	$(MANUAL_PAGES:doc/man/%=doc/manual/%.md) \
	$(MANUAL_PARTS:%=doc/manual/%.md) \
	doc/sphinx/conf.py \
	doc/sphinx/roff.py \
	doc/sphinx/stage.py
EXTRA_DIST += $(MANUAL_INPUT) $(SITE_PAGES:%=doc/manual/%.md) doc/sphinx/collopt_theme \
	doc/sphinx/drawings.py

if COLLOPT_MAN
dist_man_MANS += $(MANUAL_PAGES)
# Names under which a page is looked for, too: one line, which leads to it.
man_MANS = \
	man/collopt_algorithm_count.3 \
	man/collopt_algorithm_name.3 \
	man/collopt_algorithm_summary.3 \
	man/collopt_calls.3 \
	man/collopt_calls_passed.3 \
	man/collopt_collective_name.3 \
	man/collopt_exact_sum.3 \
	man/collopt_exact_sum_start.3 \
	man/collopt_exact_sum_test.3 \
	man/collopt_exact_sum_wait.3 \
	man/collopt_explain.3 \
	man/collopt_version.3
man_MANS += $(BENCH_HOSTS:%=man/collopt-bench-%.1)
endif
man/collopt_%.3: Makefile
	$(AM_V_at)$(MKDIR_P) man
	$(AM_V_GEN)echo '.so man3/collopt.3' >$@
man/collopt-bench-%.1: Makefile
	$(AM_V_at)$(MKDIR_P) man
	$(AM_V_GEN)echo '.so man1/collopt-bench.1' >$@
CLEANFILES += $(man_MANS)
MAINTAINERCLEANFILES = $(MANUAL_PAGES)

# A pattern, so that one run of Sphinx makes all pages. They are distributed and must not depend on
# what a build makes, so the tool that is asked for variables is only to be there before.
MANUAL_RUN = PYTHONDONTWRITEBYTECODE=1 COLLOPT_STAGE='$(abs_builddir)'/doc/stage/$$kind \
	$(SPHINX_BUILD) -q -W --keep-going -E -b $$builder -c $(srcdir)/doc/sphinx \
	-d doc/stage/$$kind.doctrees doc/stage/$$kind
MANUAL_STAGE = PYTHONDONTWRITEBYTECODE=1 \
	$(PYTHON3) $(srcdir)/doc/sphinx/stage.py $$kind $(srcdir) . doc/stage/$$kind
$(subst doc/man/,doc/m%n/,$(MANUAL_PAGES)): $(MANUAL_INPUT) src/settings/settings.c \
    | tools/collopt-info
if COLLOPT_SPHINX
	$(AM_V_at)$(MKDIR_P) doc/man
	$(AM_V_GEN)kind=man builder=man; $(MANUAL_STAGE) && $(MANUAL_RUN) doc/man && touch $(MANUAL_PAGES)
else
	@if test -f $(srcdir)/doc/man/collopt.7; then \
	  echo 'doc/manual is newer than the manual pages, which are used as they are:' \
	    'no sphinx-build with MyST'; \
	  $(MKDIR_P) doc/man; for page in $(MANUAL_PAGES); do \
	    test $(srcdir) = . || cp $(srcdir)/$$page $$page; touch $$page; \
	  done; \
	else \
	  echo 'To make the manual pages, configure must find sphinx-build with MyST and python3' >&2; \
	  exit 1; \
	fi
endif

.PHONY: site
html-local: site
if COLLOPT_SPHINX
site: tools/collopt-info tools/collopt-plan
	$(AM_V_at)rm -rf doc/site
	$(AM_V_GEN)kind=html builder=html; $(MANUAL_STAGE) && $(MANUAL_RUN) doc/site
	$(AM_V_at)rm -f doc/site/.buildinfo doc/site/objects.inv
else
site:
	@echo 'To make the site, configure must find sphinx-build with MyST and python3' >&2; exit 1
endif
clean-local: clean-site
clean-site:
	rm -rf doc/site doc/stage
.PHONY: clean-site
install-html-local: site
	$(MKDIR_P) '$(DESTDIR)$(htmldir)'
	cp -R doc/site/. '$(DESTDIR)$(htmldir)'

# As they lie here, so that links among them hold.
dist_doc_DATA += README.md NEWS COPYING AUTHORS HACKING.md CONTRIBUTING.md SECURITY.md
pagesdir = $(docdir)/doc
dist_pages_DATA = doc/algorithms.md doc/comparison.md doc/coverage.md doc/design.md doc/faq.md \
	doc/hosts.md doc/in-a-code.md doc/installing.md doc/kernels.md doc/performance.md \
	doc/pitfalls.md doc/programs.md doc/recorder.md doc/reliability.md doc/report.md \
	doc/requests.md doc/support.md doc/using.md
manualdir = $(docdir)/doc/manual
dist_manual_DATA = $(MANUAL_PAGES:doc/man/%=doc/manual/%.md) $(MANUAL_PARTS:%=doc/manual/%.md) \
	$(SITE_PAGES:%=doc/manual/%.md)
picturesdir = $(docdir)/doc/pictures
dist_pictures_DATA = doc/pictures/call.svg doc/pictures/overview.svg doc/pictures/rooms.svg \
	doc/pictures/simulated-nodes-16.svg doc/pictures/simulated-torus-4x4x4.svg \
	doc/pictures/timeline.svg \
	doc/pictures/two-ranks-mpich.svg doc/pictures/two-ranks-openmpi.svg
figuresdir = $(docdir)/doc/figures
dist_figures_DATA = doc/figures/apps.csv doc/figures/apps-8.csv doc/figures/apps-cluster.csv \
	doc/figures/cluster.csv doc/figures/debian-13.csv doc/figures/eight-ranks.csv \
	doc/figures/forms.csv doc/figures/node-counts.csv doc/figures/overlap.csv \
	doc/figures/simulated.csv doc/figures/two-ranks.csv doc/figures/unstable.csv

# The maintainer makes the tables of pages and the pictures from the figures; a test notices if they
# differ.
# After make check: what its logs say.
.PHONY: reliability-page
reliability-page:
	$(AM_V_GEN)python3 $(srcdir)/test/docs/figures.py . $(srcdir)/doc/reliability.md

.PHONY: performance-page
performance-page: pictures
	$(AM_V_GEN)$(srcdir)/bench/tables $(srcdir)/doc/performance.md $(srcdir)/doc/programs.md \
	  $(srcdir)/doc/requests.md $(srcdir)/doc/hosts.md

.PHONY: pictures
pictures:
	$(AM_V_GEN)$(srcdir)/bench/pictures
