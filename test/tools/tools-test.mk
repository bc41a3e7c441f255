# Tests of the tools, and of the settings, counters and reports with a small registry of their own.

TOOLS_TESTS = \
	test/tools/agree.sh \
	test/tools/algorithms-page.sh \
	test/tools/collopt-info.sh \
	test/tools/collopt-plan.sh \
	test/tools/collopt-report-jobs.sh \
	test/tools/collopt-report.sh \
	test/tools/collopt-tune.sh \
	test/tools/collopt.sh \
	test/tools/compare.sh \
	test/tools/demo.sh \
	test/tools/doctor.sh \
	test/tools/files.sh \
	test/tools/habits.sh \
	test/tools/hosts.sh \
	test/tools/moving.sh \
	test/tools/pages.sh \
	test/tools/pictures.sh \
	test/tools/ps.sh \
	test/tools/rules-fuzz.sh \
	test/tools/sanitizers.sh \
	test/tools/stall.sh \
	test/tools/tune-hosts.sh \
	test/tools/tune.sh
TESTS += $(TOOLS_TESTS)
EXTRA_DIST += $(TOOLS_TESTS) \
	test/tools/app.c \
	test/tools/browser.py \
	test/tools/files-0.1 \
	test/tools/hang.c \
	test/tools/hang.sh \
	test/tools/moving_test.py \
	test/tools/pictures_test.py \
	test/tools/report_page.py \
	test/tools/report_test.py \
	test/tools/standins.sh \
	test/tools/terminal.py \
	test/tools/rules-fuzz.c \
	test/tools/sanitized.c \
	test/tools/weak.c

if COLLOPT_CHECK
SETTINGS_TESTS = test/unit/test_settings test/unit/test_counters test/unit/test_machine \
	test/unit/test_places test/unit/test_rules test/unit/test_traced test/unit/test_trials \
	test/unit/test_waiting
check_PROGRAMS += $(SETTINGS_TESTS)
TESTS += $(SETTINGS_TESTS)

# settings, and what they take
SETTINGS_PARTS = \
	test/unit/fake_registry.c \
	test/unit/fake_registry.h \
	src/catalogue/choice.c \
	src/base/contents.c \
	src/base/launcher.c \
	src/base/text.c \
	src/schedule/parameters.c \
	src/catalogue/expression.c \
	src/topology/host_file.c \
	src/base/lines.c \
	src/base/list.c \
	src/base/log.c \
	src/base/signals.c \
	src/settings/search_path.c \
	src/model/fragments.c \
	src/model/host_mpi.c \
	src/model/host_times.c \
	src/model/machine.c \
	src/settings/rules.c \
	src/settings/settings.c \
	src/topology/topology.c

test_unit_test_settings_SOURCES = test/unit/test_settings.c $(SETTINGS_PARTS)
test_unit_test_settings_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_settings_LDADD = $(CHECK_LIBS)
test_unit_test_machine_SOURCES = test/unit/test_machine.c $(SETTINGS_PARTS)
test_unit_test_machine_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_machine_LDADD = $(CHECK_LIBS)
test_unit_test_places_SOURCES = test/unit/test_places.c src/settings/bundled.c $(SETTINGS_PARTS)
test_unit_test_places_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_places_LDADD = $(CHECK_LIBS)
test_unit_test_rules_SOURCES = test/unit/test_rules.c tools/shared/rules_check.c $(SETTINGS_PARTS)
test_unit_test_rules_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_rules_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_rules_LDADD = $(CHECK_LIBS)
test_unit_test_trials_SOURCES = \
	test/unit/test_trials.c \
	src/select/tuning_results.c \
	tools/shared/rules_check.c \
	src/select/trials.c \
	$(SETTINGS_PARTS)
test_unit_test_trials_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_trials_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_trials_LDADD = $(CHECK_LIBS)
test_unit_test_counters_SOURCES = \
	test/unit/test_counters.c \
	src/report/counters.c \
	src/base/json.c \
	src/report/makings.c \
	src/report/output.c \
	src/report/public.c \
	src/report/public_names.c \
	src/report/report.c \
	src/report/shares.c \
	src/report/timing.c \
	src/report/waits.c \
	src/select/tuning_results.c \
	$(SETTINGS_PARTS)
test_unit_test_counters_CPPFLAGS = $(AM_CPPFLAGS) -DCOLLOPT_STATIC -I$(srcdir)/test/unit
test_unit_test_counters_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
test_unit_test_counters_LDADD = $(CHECK_LIBS) $(JANSSON_LIBS) -lm
test_unit_test_traced_SOURCES = \
	test/unit/test_traced.c \
	src/base/json.c \
	src/report/output.c \
	src/report/trace.c \
	src/report/traced.c \
	$(SETTINGS_PARTS)
test_unit_test_traced_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_traced_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
test_unit_test_traced_LDADD = $(CHECK_LIBS) $(JANSSON_LIBS)
test_unit_test_waiting_SOURCES = \
	test/unit/test_waiting.c \
	src/base/json.c \
	src/report/counters.c \
	src/report/notes.c \
	src/report/shares.c \
	src/report/waits.c \
	$(SETTINGS_PARTS)
test_unit_test_waiting_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_waiting_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_waiting_LDADD = $(CHECK_LIBS)
endif
