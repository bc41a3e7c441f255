# Tests of the front.
