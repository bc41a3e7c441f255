/* Dumps of recordings, as collopt-ps --read takes them from other nodes: what is read is written
 * again and read again, brought together, and said in words and as JSON. */
#include "config.h"

#include "parsers.h"
#include "ps/dump.h"
#include "ps/json.h"
#include "recorder/sentences.h"

#include <stdlib.h>
#include <string.h>

static void read_dump(const char *text, size_t size, struct collopt_processes *p)
{
    FILE *from = fmemopen((void *)text, size, "r");
    int dumps = 0;

    *p = (struct collopt_processes){ .n = 0 };
    if (!from)
        exit(0);
    dump_read(from, p, &dumps);
    fclose(from);
}

static FILE *to_text(char **text, size_t *size)
{
    FILE *to = open_memstream(text, size);

    if (!to)
        exit(0);
    return to;
}

static void is_written_back(const struct collopt_processes *p)
{
    struct collopt_processes again;
    char *text;
    size_t size;
    FILE *to = to_text(&text, &size);

    dump_write(to, p);
    fclose(to);
    read_dump(text, size, &again);
    if (again.n != p->n)
        wrong("%zu processes, and %zu are read again:\n%s", p->n, again.n, text);
    for (size_t i = 0; i < p->n; i++)
        if (again.list[i].comms != p->list[i].comms || again.list[i].calls != p->list[i].calls
            || strcmp(again.list[i].host, p->list[i].host)
            || again.list[i].rank != p->list[i].rank)
            wrong("process %zu is another one:\n%s", i, text);
    collopt_processes_free(&again);
    free(text);
}

static void hear_line(void *data, const char *line)
{
    (void)data;
    if (strchr(line, '\n'))
        wrong("two lines in one: %s", line);
}

static void diagnose(const struct collopt_processes *p)
{
    struct collopt_diagnosis *d = collopt_diagnose(p->list, p->n, 1000000000);
    char *text;
    size_t size;
    FILE *to = to_text(&text, &size);

    for (size_t i = 0; d && i < d->jobs; i++)
        collopt_tell_job(&d->job[i], hear_line, NULL);
    if (d)
        json_write(to, d, p);
    fclose(to);
    free(text);
    collopt_diagnosis_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct collopt_processes p;
    char *text;

    if (size == 0)
        return 0;
    text = bytes_of(data, size);
    read_dump(text, size, &p);
    free(text);
    is_written_back(&p);
    diagnose(&p);
    collopt_processes_free(&p);
    return 0;
}
