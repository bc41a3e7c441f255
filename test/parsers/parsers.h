/* What the targets for libFuzzer share.  A target hands bytes that libFuzzer makes up to one parser
 * of the library, and ends the process where something that must hold does not; AddressSanitizer
 * and UndefinedBehaviorSanitizer end it where the parser does what C does not allow.
 * test/parsers/run runs them. */
#ifndef COLLOPT_TEST_PARSERS_PARSERS_H
#define COLLOPT_TEST_PARSERS_PARSERS_H

#include <stddef.h>
#include <stdint.h>

/* The target; what libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints what does not hold, and ends the process. */
__attribute__((format(printf, 1, 2), noreturn))
void wrong(const char *format, ...);

/* The bytes as a text, in memory of just its length; the caller frees it.  It ends at the first
 * zero. */
char *text_of(const uint8_t *data, size_t size);
/* Without a zero, in memory of just SIZE bytes, as a file is read. */
char *bytes_of(const uint8_t *data, size_t size);

/* A message is one line, and not empty. */
void is_sentence(const char *sentence);

/* Mistakes that a parser of lines tells. */
struct told {
    int lines;                  /* that there are */
    int n;
};
struct told nothing_told(const uint8_t *data, size_t size);
/* A collopt_tell_mistake, whose DATA is struct told. */
void hear(void *data, int line, const char *sentence);

/* The next byte of the input; 0 behind its end. */
struct input {
    const uint8_t *at, *end;
};
unsigned next_byte(struct input *in);

#endif
