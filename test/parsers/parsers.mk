# Whatever reads what others have written, and the building of schedules, under libFuzzer with
# AddressSanitizer and UndefinedBehaviorSanitizer: test/parsers/parsers.sh runs all for a moment,
# test/parsers/run as long as one likes.

PARSERS = dump expression hosts machine recording rules schedule settings topology
PARSERS_C = $(PARSERS:%=test/parsers/%.c) test/parsers/info.c test/parsers/parsers.c \
	test/parsers/parsers.h

PARSERS_FLAGS = -std=gnu11 -g1 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	$(DEFS) $(DEFAULT_INCLUDES) $(filter-out -DNDEBUG,$(AM_CPPFLAGS)) -I$(srcdir)/tools \
	-I$(srcdir)/test -I$(srcdir)/test/unit -I$(srcdir)/test/parsers $(AM_CFLAGS) \
	-Wno-string-concatenation $(HWLOC_CFLAGS)
PARSED = $(filter %.c,$(COLLOPT_CORE_SOURCES) $(ALGORITHM_SOURCES) $(ALGORITHM_HELPERS)) \
	src/algorithms/algorithms-registry.c test/parsers/parsers.c test/unit/proof.c \
	test/unit/trial.c tools/ps/dump.c tools/ps/json.c tools/shared/replay.c \
	tools/shared/rules_check.c
PARSED_OBJECTS = $(PARSED:%.c=test/parsers/objects/%.o)

test/parsers/objects/%.o: %.c
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_CC)$(FUZZER_CC) $(PARSERS_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
test/parsers/parsed.a: $(PARSED_OBJECTS)
	$(AM_V_at)rm -f $@
	$(AM_V_AR)$(AR) cr $@ $^
-include $(wildcard $(PARSED_OBJECTS:.o=.d))

# Of the kernels nothing is run.
PARSERS_LINK = test/parsers/parsed.a .libs/libcollopt-kernels.a $(HWLOC_LIBS) -lm -lpthread
$(PARSERS:%=test/parsers/%): test/parsers/%: test/parsers/%.c test/parsers/parsed.a \
  libcollopt-core.la
	$(AM_V_CC)$(FUZZER_CC) $(PARSERS_FLAGS) -fsanitize=fuzzer -o $@ $(filter %.c,$^) $(PARSERS_LINK)

if COLLOPT_FUZZER
PARSERS_FILES = $(PARSERS:%=test/parsers/%) $(ARCHIVES:%=test/parsers/%/info)
check_DATA += $(PARSERS_FILES)
endif
CLEANFILES += $(PARSERS:%=test/parsers/%) $(ARCHIVES:%=test/parsers/%/info) test/parsers/parsed.a \
	$(PARSED_OBJECTS) $(PARSED_OBJECTS:.o=.d)
TESTS += test/parsers/parsers.sh
EXTRA_DIST += $(PARSERS_C) test/parsers/parsers.sh test/parsers/reports.py test/parsers/run \
	test/parsers/corpus
