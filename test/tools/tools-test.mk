# Tests of the tools, and of the settings, counters and reports with a small registry of their own.

TESTS += \
	test/tools/algorithms-page.sh \
	test/tools/collopt.sh \
	test/tools/collopt-info.sh \
	test/tools/collopt-plan.sh \
	test/tools/hosts.sh \
	test/tools/pages.sh
EXTRA_DIST += \
	test/tools/algorithms-page.sh \
	test/tools/collopt.sh \
	test/tools/collopt-info.sh \
	test/tools/collopt-plan.sh \
	test/tools/hosts.sh \
	test/tools/pages.sh \
	test/tools/weak.c

if COLLOPT_CHECK
check_PROGRAMS += test/unit/test_settings test/unit/test_counters
TESTS += test/unit/test_settings test/unit/test_counters

test_unit_test_settings_SOURCES = \
	test/unit/fake_registry.c \
	test/unit/fake_registry.h \
	test/unit/test_settings.c \
	src/choice.c \
	src/expression.c \
	src/log.c \
	src/settings.c \
	src/topology.c
test_unit_test_settings_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_settings_LDADD = $(CHECK_LIBS)

test_unit_test_counters_SOURCES = \
	test/unit/fake_registry.c \
	test/unit/fake_registry.h \
	test/unit/test_counters.c \
	src/counters.c \
	src/choice.c \
	src/expression.c \
	src/json.c \
	src/log.c \
	src/public.c \
	src/public_names.c \
	src/report.c \
	src/settings.c \
	src/topology.c
test_unit_test_counters_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
test_unit_test_counters_LDADD = $(CHECK_LIBS) $(JANSSON_LIBS) -lm
endif
