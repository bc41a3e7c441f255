# The tools that a user runs.

bin_PROGRAMS += tools/collopt-info
tools_collopt_info_SOURCES = tools/collopt-info.c
tools_collopt_info_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCOLLOPT_PREFIX='"$(prefix)"' -DCOLLOPT_BINDIR='"$(bindir)"' -DCOLLOPT_LIBDIR='"$(libdir)"'
tools_collopt_info_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
tools_collopt_info_LDADD = libcollopt-core.la $(HWLOC_LIBS)

bin_SCRIPTS += tools/collopt
EXTRA_DIST += tools/collopt.in
CLEANFILES += tools/collopt

tools/collopt: tools/collopt.in Makefile
	$(AM_V_at)$(MKDIR_P) tools
	$(AM_V_GEN)$(SED) -e 's|[@]VERSION[@]|$(VERSION)|' -e 's|[@]prefix[@]|$(prefix)|' \
	  -e 's|[@]bindir[@]|$(bindir)|' -e 's|[@]libdir[@]|$(libdir)|' $(srcdir)/tools/collopt.in >$@.tmp
	$(AM_V_at)chmod +x $@.tmp && mv $@.tmp $@

include $(srcdir)/test/tools/tools-test.mk
