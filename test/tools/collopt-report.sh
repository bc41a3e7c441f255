#!/bin/sh
# collopt-report: its Python parts, options and messages, without MPI and without a browser.

python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null ||
    { echo 'SKIP: no python3, 3.7 or later'; exit 77; }
exec timeout 900 python3 -B "$COLLOPT_SOURCE/test/tools/report_test.py"
