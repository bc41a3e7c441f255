# Tests of the manual and the site.

DOCS_TESTS = test/docs/examples.sh test/docs/messages.sh test/docs/named_tests.sh \
	test/docs/reliability.sh test/docs/site.sh
TESTS += $(DOCS_TESTS)
EXTRA_DIST += $(DOCS_TESTS) test/docs/examples.py test/docs/messages.py \
	test/docs/figures.py test/docs/named_tests.py test/docs/site.py
