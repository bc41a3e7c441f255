# Nothing yet.
ALGORITHM_SOURCES =
