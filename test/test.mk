# Tests without MPI: schedules are proved, spoilt ones refused, predictions replayed.

if COLLOPT_CHECK
UNIT_TESTS = test/unit/test_proof test/unit/test_catalogue test/unit/test_schedules \
	test/unit/test_mutations test/unit/test_model test/unit/test_earns test/unit/test_bind \
	test/unit/test_scale test/unit/test_host_times test/unit/test_choice test/unit/test_break_even \
	test/unit/test_memo test/unit/test_context test/unit/test_channel test/unit/test_journal \
	test/unit/test_diagnosis test/unit/test_reader test/unit/test_recorder \
	test/unit/test_segment test/unit/test_writer
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)

check_LTLIBRARIES += libcollopt-proof.la
libcollopt_proof_la_SOURCES = \
	tools/shared/effort.c \
	tools/shared/effort.h \
	tools/shared/replay.c \
	tools/shared/replay.h \
	test/unit/proof.c \
	test/unit/proof.h \
	test/unit/quiet_check.h \
	test/unit/trial.c \
	test/unit/trial.h
libcollopt_proof_la_CPPFLAGS = $(UNIT_CPPFLAGS)
libcollopt_proof_la_LIBADD = libcollopt-core.la

EXTRA_DIST += test/unit/share.h test/unit/suite.h
UNIT_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LIBS = libcollopt-proof.la $(CHECK_LIBS) $(HWLOC_LIBS)

test_unit_test_proof_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_proof_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_proof_LDADD = $(UNIT_LIBS)
test_unit_test_catalogue_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_catalogue_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_catalogue_LDADD = $(UNIT_LIBS)
test_unit_test_schedules_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_schedules_LDADD = $(UNIT_LIBS)
test_unit_test_mutations_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_mutations_LDADD = $(UNIT_LIBS)
test_unit_test_earns_CPPFLAGS = $(UNIT_CPPFLAGS) -DCOLLOPT_SOURCE='"$(abs_top_srcdir)"'
test_unit_test_earns_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_earns_LDADD = $(UNIT_LIBS)
test_unit_test_model_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_model_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_model_LDADD = $(UNIT_LIBS)
test_unit_test_bind_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_bind_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_bind_LDADD = $(UNIT_LIBS)
test_unit_test_scale_CPPFLAGS = $(UNIT_CPPFLAGS)
test_unit_test_scale_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_scale_LDADD = $(UNIT_LIBS)
test_unit_test_host_times_SOURCES = test/unit/test_host_times.c tools/shared/rules_check.c
test_unit_test_host_times_CPPFLAGS = $(UNIT_CPPFLAGS) -DCOLLOPT_SOURCE='"$(abs_top_srcdir)"'
test_unit_test_host_times_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_host_times_LDADD = libcollopt-core.la $(CHECK_LIBS) $(HWLOC_LIBS) -lm
test_unit_test_choice_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_choice_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc
test_unit_test_choice_LDADD = libcollopt-core.la $(CHECK_LIBS) $(HWLOC_LIBS) -lm

# when preparing pays, what is remembered of it, and the numbers that keep communicators apart
test_unit_test_break_even_SOURCES = src/select/break_even.c src/select/break_even.h \
	test/unit/test_break_even.c
test_unit_test_break_even_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_break_even_LDADD = $(CHECK_LIBS)
test_unit_test_memo_SOURCES = src/base/memo.c src/base/memo.h test/unit/test_memo.c
test_unit_test_memo_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_memo_LDADD = $(CHECK_LIBS)
test_unit_test_channel_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_channel_LDADD = libcollopt-core.la $(CHECK_LIBS) -lpthread
test_unit_test_channel_LDFLAGS = -Wl,--wrap=madvise
test_unit_test_journal_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_journal_LDADD = libcollopt-core.la $(CHECK_LIBS) -lpthread
test_unit_test_diagnosis_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_diagnosis_LDADD = libcollopt-core.la $(CHECK_LIBS)
test_unit_test_reader_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_reader_LDADD = libcollopt-core.la $(CHECK_LIBS)
test_unit_test_recorder_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_recorder_LDADD = libcollopt-core.la $(CHECK_LIBS) -lpthread
test_unit_test_segment_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_segment_LDFLAGS = -Wl,--wrap=madvise,--wrap=syscall
test_unit_test_segment_LDADD = libcollopt-core.la $(CHECK_LIBS) -lpthread
test_unit_test_writer_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_writer_LDADD = libcollopt-core.la $(CHECK_LIBS)
test_unit_test_context_SOURCES = src/mpi/node/context.c src/mpi/node/context.h \
	test/unit/test_context.c
test_unit_test_context_CFLAGS = $(UNIT_CFLAGS)
test_unit_test_context_LDADD = $(CHECK_LIBS) -lpthread

# machines as hwloc describes and records them
if COLLOPT_HWLOC
check_PROGRAMS += test/unit/test_recorded
TESTS += test/unit/test_recorded
test_unit_test_recorded_SOURCES = test/unit/lstopo.h test/unit/test_recorded.c
test_unit_test_recorded_CFLAGS = $(UNIT_CFLAGS) $(HWLOC_CFLAGS)
test_unit_test_recorded_LDADD = libcollopt-core.la $(CHECK_LIBS) $(HWLOC_LIBS)
endif
endif

# One test, a program or a script, with nothing else built than this program.
.PHONY: one
one:
	@case '$(TEST)' in \
	*.sh) $(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/'$(TEST)' ;; \
	?*) $(MAKE) $(AM_MAKEFLAGS) '$(TEST)' && { $(AM_TESTS_ENVIRONMENT) '$(TEST)'; } ;; \
	*) echo 'make one takes TEST=NAME, such as TEST=test/unit/test_bind' >&2; exit 2 ;; \
	esac

# One algorithm, in each collective that has it: the proof of its schedules on up to 17 ranks, and
# the rounds and bytes that it states: make prove ALGORITHM=ring
.PHONY: prove
if COLLOPT_CHECK
prove: tools/collopt tools/collopt-info test/unit/test_schedules test/unit/test_model
	@collectives=`tools/collopt --complete collopt --force | sed -n 's/=$(ALGORITHM)$$//p'`; \
	test -n "$$collectives" || { \
	  echo 'make prove takes ALGORITHM=NAME, of collopt-info --algorithms, not "$(ALGORITHM)"' >&2; \
	  exit 2; \
	}; \
	status=0; \
	for collective in $$collectives; do \
	  CK_RUN_CASE=small test/unit/test_schedules $$collective '$(ALGORITHM)' || status=1; \
	  test/unit/test_model $$collective '$(ALGORITHM)' || status=1; \
	done; \
	exit $$status
else
prove:
	@echo 'To prove an algorithm, configure must find Check' >&2; exit 1
endif

# what the model chooses, without anything of MPI
check_PROGRAMS += test/unit/test_guidelines
TESTS += test/unit/test_guidelines
test_unit_test_guidelines_SOURCES = \
	tools/shared/guidelines.c \
	tools/shared/guidelines.h \
	test/unit/test_guidelines.c
test_unit_test_guidelines_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
test_unit_test_guidelines_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

# What threads may do at the same time, under ThreadSanitizer: without MPI, and on each MPI.
TESTS += test/threads_sanitized.sh
EXTRA_DIST += test/threads_sanitized.sh test/threads_core.c

# The memory orders of what is shared without locks: all executions of small models.
TESTS += test/orders/orders.sh
EXTRA_DIST += test/orders/orders.sh test/orders/bind.c test/orders/channel.c \
	test/orders/choice.c test/orders/communicators.c test/orders/comparison.c \
	test/orders/explore.c test/orders/explore.h test/orders/explored.h test/orders/failures.c \
	test/orders/flags.c test/orders/gpu.c test/orders/handles.c test/orders/journal.c \
	test/orders/litmus.c test/orders/operations.c test/orders/progress.c test/orders/recorder.c \
	test/orders/requests.c test/orders/segment.c test/orders/slices.c test/orders/slots.c \
	test/orders/stamps.c test/orders/world.c

check_PROGRAMS += test/privileged
TESTS += test/privileged.sh
EXTRA_DIST += test/privileged.sh
test_privileged_SOURCES = test/privileged.c
test_privileged_LDADD = libcollopt-core.la $(HWLOC_LIBS) -lm

# Other releases of Debian, by hand and by .ci/run.
EXTRA_DIST += test/hosts/debian test/hosts/subset.sh

# The first answer to a change, in three minutes: the unit tests, schedules on few ranks, the front,
# and each collective on each MPI.
QUICK_LOGS = $(patsubst %,%.log,$(filter test/unit/% test/front/%,$(TESTS:.sh=)))
QUICK_MPI_LOGS = $(COLLECTIVES_TESTS:.sh=.log)
check-quick: all $(filter %/test_collectives,$(MPI_TEST_FILES))
	@rm -f $(QUICK_LOGS) $(QUICK_MPI_LOGS) $(QUICK_LOGS:.log=.trs) $(QUICK_MPI_LOGS:.log=.trs)
	@TEST_QUICK=1; export TEST_QUICK; start=`date +%s`; \
	$(MAKE) $(AM_MAKEFLAGS) -k -j`getconf _NPROCESSORS_ONLN` $(QUICK_LOGS); \
	$(MAKE) $(AM_MAKEFLAGS) -k -j1 $(QUICK_MPI_LOGS); \
	passed=0 failed=0 skipped=0; \
	for log in $(QUICK_LOGS) $(QUICK_MPI_LOGS); do \
	  case `cat $${log%.log}.trs 2>/dev/null` in \
	  *':test-result: PASS'*) passed=$$((passed + 1)) ;; \
	  *':test-result: SKIP'*) skipped=$$((skipped + 1)) ;; \
	  *) failed=$$((failed + 1)); echo "FAIL: $$log"; tail -n 20 $$log ;; \
	  esac; \
	done; \
	echo "$$passed passed, $$failed failed, $$skipped skipped in $$((`date +%s` - start)) s"; \
	test $$failed = 0 && test $$passed -gt 0
.PHONY: check-quick

EXTRA_DIST += .clang-format .editorconfig

# What clang-tidy finds, and whether what hosted tests run is there.
TESTS += test/tidy.sh test/ci.sh
EXTRA_DIST += test/tidy.sh test/ci.sh .clang-tidy

# Which folder of src may include which, and how long lines may be.
TESTS += test/rooms.sh test/columns.sh test/adding.sh
EXTRA_DIST += test/rooms.py test/rooms.sh test/columns.sh test/adding.sh test/common.sh \
	src/README.md
