# The front, with a stand-in backend; and what the built libraries export.

FRONT_TESTS = \
	test/exports.sh \
	test/front/lacking.sh \
	test/front/abi.sh \
	test/front/local.sh \
	test/front/missing.sh \
	test/front/moved.sh \
	test/front/order.sh \
	test/front/real.sh \
	test/front/silent.sh \
	test/front/stacking.sh \
	test/front/strange.sh \
	test/front/tools.sh

TESTS += $(FRONT_TESTS)
EXTRA_DIST += \
	$(FRONT_TESTS) \
	test/front/app.c \
	test/front/backend.c \
	test/front/common.sh \
	test/front/darshan.c \
	test/front/keys.c \
	test/front/keys.f90 \
	test/front/late.c \
	test/front/loader.c \
	test/front/names.c \
	test/front/pcontrol.c \
	test/front/strange.c \
	test/front/stranger.c \
	test/front/tool.c
