# The tools that a user runs.

bin_PROGRAMS += tools/collopt-info
tools_collopt_info_SOURCES = tools/info/catalogue.c tools/info/catalogue.h \
	tools/info/collopt-info.c tools/info/explain.c tools/info/explain.h tools/info/files.c \
	tools/info/files.h tools/info/installation.c tools/info/installation.h \
	tools/info/variables.c tools/info/variables.h tools/shared/effort.c tools/shared/effort.h \
	tools/shared/output.c tools/shared/output.h
nodist_tools_collopt_info_SOURCES = tools/info/variable_texts.c
tools_collopt_info_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(srcdir)/tools -DCOLLOPT_PREFIX='"$(prefix)"' \
	-DCOLLOPT_BINDIR='"$(bindir)"' -DCOLLOPT_LIBDIR='"$(libdir)"'
tools_collopt_info_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
tools_collopt_info_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm
# From the source of the manual: collopt(7), the site and --variable say the same.
tools/info/variable_texts.c: doc/manual/variables.md tools/info/variables.awk
	$(AM_V_at)$(MKDIR_P) tools/info
	$(AM_V_GEN)$(AWK) -f $(srcdir)/tools/info/variables.awk $(srcdir)/doc/manual/variables.md \
	  >$@.tmp && mv $@.tmp $@
CLEANFILES += tools/info/variable_texts.c
EXTRA_DIST += tools/info/variables.awk

bin_PROGRAMS += tools/collopt-plan
tools_collopt_plan_SOURCES = \
	tools/plan/collopt-plan.c \
	tools/plan/html.c \
	tools/plan/html.h \
	tools/plan/json.c \
	tools/plan/json.h \
	tools/plan/plan.c \
	tools/plan/plan.h \
	tools/plan/svg.c \
	tools/plan/svg.h \
	tools/plan/text.c \
	tools/plan/text.h \
	tools/shared/output.c \
	tools/shared/output.h \
	tools/shared/replay.c \
	tools/shared/replay.h
tools_collopt_plan_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools -Itools
tools_collopt_plan_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

bin_PROGRAMS += tools/collopt-ps
tools_collopt_ps_SOURCES = \
	tools/ps/collopt-ps.c \
	tools/ps/dump.c \
	tools/ps/dump.h \
	tools/ps/json.c \
	tools/ps/json.h \
	tools/shared/output.c \
	tools/shared/output.h \
	tools/ps/stack.c \
	tools/ps/stack.h
tools_collopt_ps_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
tools_collopt_ps_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

bin_PROGRAMS += tools/collopt-tune
tools_collopt_tune_SOURCES = \
	tools/shared/guidelines.c \
	tools/shared/guidelines.h \
	tools/shared/output.c \
	tools/shared/output.h \
	tools/shared/rules_check.c \
	tools/shared/rules_check.h \
	tools/tune/cells.c \
	tools/tune/cells.h \
	tools/tune/collopt-tune.c \
	tools/tune/costs.c \
	tools/tune/costs.h \
	tools/tune/guidelines.c \
	tools/tune/guidelines.h \
	tools/tune/job.c \
	tools/tune/job.h \
	tools/tune/machine.c \
	tools/tune/machine.h \
	tools/tune/measure.c \
	tools/tune/measure.h \
	tools/tune/options.c \
	tools/tune/options.h \
	tools/tune/picture.c \
	tools/tune/picture.h \
	tools/tune/rules.c \
	tools/tune/rules.h \
	tools/tune/series.c \
	tools/tune/series.h \
	tools/tune/summary.c \
	tools/tune/summary.h \
	tools/tune/text.c \
	tools/tune/text.h \
	tools/tune/verify.c \
	tools/tune/verify.h
tools_collopt_tune_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools -Itools \
	-DCOLLOPT_PREFIX='"$(prefix)"' -DCOLLOPT_BINDIR='"$(bindir)"' -DCOLLOPT_LIBDIR='"$(libdir)"'
tools_collopt_tune_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm
# Pictures have the colours of pages.
tools/tune/collopt_tune-picture.$(OBJEXT): tools/shared/colours.h
tools/plan/collopt_plan-html.$(OBJEXT) tools/plan/collopt_plan-svg.$(OBJEXT): tools/shared/colours.h
tools/shared/colours.h: tools/python/colours.txt
	$(AM_V_at)$(MKDIR_P) tools/shared
	$(AM_V_GEN)$(AWK) '/^[a-z]/ { printf "#define COLOUR_%s \"%s\"\n", toupper($$1), $$2 }' \
	  $(srcdir)/tools/python/colours.txt >$@.tmp && mv $@.tmp $@
CLEANFILES += tools/shared/colours.h

# doc/algorithms.md is made by the maintainer and distributed; a test says when it is stale.
check_PROGRAMS += tools/algorithms-page
tools_algorithms_page_SOURCES = tools/info/algorithms-page.c tools/info/catalogue.c \
	tools/info/catalogue.h tools/shared/effort.c tools/shared/effort.h \
	tools/shared/output.c tools/shared/output.h
tools_algorithms_page_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
tools_algorithms_page_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

.PHONY: algorithms-page
algorithms-page: tools/algorithms-page
	$(AM_V_GEN)tools/algorithms-page $(srcdir)/doc/algorithms.in >$@.new
	$(AM_V_at)mv $@.new $(srcdir)/doc/algorithms.md

# For collopt compare, profile and doctor; nobody starts these by hand.
pkglibexec_PROGRAMS += tools/collopt-probe tools/collopt-statistics
tools_collopt_probe_SOURCES = tools/collopt-probe.c
tools_collopt_probe_LDADD = -ldl
tools_collopt_statistics_SOURCES = tools/collopt-statistics.c bench/lib/statistics.c \
	bench/lib/statistics.h tools/shared/output.c tools/shared/output.h
tools_collopt_statistics_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench -I$(srcdir)/tools
tools_collopt_statistics_LDADD = -lm

bin_SCRIPTS += tools/collopt
EXTRA_DIST += tools/collopt.in
CLEANFILES += tools/collopt

tools/collopt: tools/collopt.in Makefile
	$(AM_V_at)$(MKDIR_P) tools
	$(AM_V_at)test -e tools/python || ln -s $(abs_top_srcdir)/tools/python tools/python
	$(AM_V_GEN)$(SED) -e 's|[@]VERSION[@]|$(VERSION)|' -e 's|[@]prefix[@]|$(prefix)|' \
	  -e 's|[@]bindir[@]|$(bindir)|' -e 's|[@]libdir[@]|$(libdir)|' \
	  -e 's|[@]pkgdatadir[@]|$(pkgdatadir)|' -e 's|[@]pkglibexecdir[@]|$(pkglibexecdir)|' \
	  $(srcdir)/tools/collopt.in >$@.tmp
	$(AM_V_at)chmod +x $@.tmp && mv $@.tmp $@

# Tools in Python: a shell script each, which finds the modules in the folder python beside it or in
# pkgdatadir.
PYTHON_PARTS = \
	tools/python/advice.py \
	tools/python/calls.py \
	tools/python/colours.py \
	tools/python/colours.txt \
	tools/python/commandline.py \
	tools/python/compare.py \
	tools/python/demo.py \
	tools/python/doctor.py \
	tools/python/figures.py \
	tools/python/jobs.py \
	tools/python/makings.py \
	tools/python/openmetrics.py \
	tools/python/output.py \
	tools/python/page.css \
	tools/python/page.js \
	tools/python/page.py \
	tools/python/predict.py \
	tools/python/progress.py \
	tools/python/report.py \
	tools/python/reports.py \
	tools/python/say.py \
	tools/python/subcommands.py \
	tools/python/text.py \
	tools/python/timeline.py \
	tools/python/views.py \
	tools/python/waits.py
pythonpartsdir = $(pkgdatadir)/python
dist_pythonparts_DATA = $(PYTHON_PARTS)

bin_SCRIPTS += tools/collopt-report
EXTRA_DIST += tools/collopt-report.in
CLEANFILES += tools/collopt-report

tools/collopt-report: tools/collopt-report.in Makefile
	$(AM_V_at)$(MKDIR_P) tools
	$(AM_V_at)test -e tools/python || ln -s $(abs_top_srcdir)/tools/python tools/python
	$(AM_V_GEN)$(SED) -e 's|[@]VERSION[@]|$(VERSION)|' -e 's|[@]prefix[@]|$(prefix)|' \
	  -e 's|[@]bindir[@]|$(bindir)|' -e 's|[@]pkgdatadir[@]|$(pkgdatadir)|' \
	  $(srcdir)/tools/collopt-report.in >$@.tmp
	$(AM_V_at)chmod +x $@.tmp && mv $@.tmp $@

clean-local: clean-python
.PHONY: clean-python
clean-python:
	test ! -h tools/python || rm tools/python

# The shells read completions from --help when they need them; each looks for a file of the
# command's name.  Distributions that have other folders say so:
# make install zshdir=/usr/share/zsh/vendor-completions
bashdir = $(datadir)/bash-completion/completions
fishdir = $(datadir)/fish/vendor_completions.d
zshdir = $(datadir)/zsh/site-functions
dist_zsh_DATA = tools/completion/_collopt
EXTRA_DIST += tools/completion/collopt.bash tools/completion/collopt.fish
COMPLETED = collopt collopt-info collopt-plan collopt-ps collopt-report collopt-tune \
	$(BENCH_HOSTS:%=collopt-bench-%)

# Module files, in a folder for `module use`.
modulesdir = $(pkgdatadir)/modulefiles
EXTRA_DIST += tools/modules/collopt.lua.in tools/modules/collopt.tcl.in
CLEANFILES += tools/modules/collopt.lua tools/modules/collopt.tcl
all-local: tools/modules/collopt.lua tools/modules/collopt.tcl
tools/modules/%: tools/modules/%.in Makefile
	$(AM_V_at)$(MKDIR_P) tools/modules
	$(AM_V_GEN)$(SED) -e 's|[@]VERSION[@]|$(VERSION)|' -e 's|[@]bindir[@]|$(bindir)|' \
	  -e 's|[@]libdir[@]|$(libdir)|' -e 's|[@]includedir[@]|$(includedir)|' \
	  -e 's|[@]mandir[@]|$(mandir)|' $< >$@.tmp && mv $@.tmp $@

install-data-local: install-completion install-modules
uninstall-local: uninstall-completion uninstall-modules
.PHONY: install-completion install-modules uninstall-completion uninstall-modules
install-completion:
	$(MKDIR_P) '$(DESTDIR)$(bashdir)' '$(DESTDIR)$(fishdir)'
	for name in $(COMPLETED); do \
	  $(INSTALL_DATA) $(srcdir)/tools/completion/collopt.bash '$(DESTDIR)$(bashdir)'/$$name && \
	  $(INSTALL_DATA) $(srcdir)/tools/completion/collopt.fish \
	    '$(DESTDIR)$(fishdir)'/$$name.fish || exit 1; \
	done
uninstall-completion:
	for name in $(COMPLETED); do \
	  rm -f '$(DESTDIR)$(bashdir)'/$$name '$(DESTDIR)$(fishdir)'/$$name.fish; \
	done
install-modules: tools/modules/collopt.lua tools/modules/collopt.tcl
	$(MKDIR_P) '$(DESTDIR)$(modulesdir)/collopt'
	$(INSTALL_DATA) tools/modules/collopt.lua '$(DESTDIR)$(modulesdir)/collopt/$(VERSION).lua'
	$(INSTALL_DATA) tools/modules/collopt.tcl '$(DESTDIR)$(modulesdir)/collopt/$(VERSION)'
uninstall-modules:
	rm -f '$(DESTDIR)$(modulesdir)/collopt/$(VERSION).lua' '$(DESTDIR)$(modulesdir)/collopt/$(VERSION)'

include $(srcdir)/test/tools/tools-test.mk
