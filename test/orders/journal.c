/* Journals: records in pages and in blocks, pages and blocks used again, journals that are broken
 * off, opened late, and closed. */
#include "shm/journal.c"

enum { NUMBER = 300, BLOCK = 1000 };

static char *memory;            /* the segment of the owner */
static struct collopt_journal journal;
static struct collopt_reader reader;

/* Record N, of so many bytes, begins with N. */
static void write_records(uint64_t from, uint64_t to, size_t bytes)
{
    for (uint64_t n = from; n <= to; n++) {
        char *payload = collopt_journal_payload(&journal, bytes);

        explore_check(payload != NULL, "there is no memory");
        memcpy(payload, &n, sizeof n);
        collopt_journal_write(&journal, (unsigned)n);
        collopt_journal_pass(&journal, n);
    }
}

static void read_record(const struct collopt_record *record)
{
    uint64_t n = 0;

    memcpy(&n, collopt_reader_payload(&reader, record), sizeof n);
    explore_check(n == reader.number + 1 && record->mark == n, "a record is another one");
    collopt_reader_pass(&reader);
}

static void read_records(int n)
{
    const struct collopt_record *record;

    while (n-- > 0) {
        explore_until((record = collopt_reader_look(&reader)) != NULL);
        read_record(record);
    }
}

static void make(void)
{
    memory = explore_segment();
    explore_check(collopt_journal_make(&journal, NUMBER, 2, 0), "there is no memory");
}

static void open_it(void)
{
    explore_until(collopt_reader_open(&reader, memory, NUMBER, 1));
}

/* ---- found, written and read ----------------------------------------------------------------- */

static void begin_nothing(void)
{
    memory = explore_segment();
}

/* The part of the directory is there already. */
static void begin_directory(void)
{
    memory = explore_segment();
    collopt_segment_publish(NUMBER + 1, 0);
}

/* Two threads publish for the first time, and a third one finds both. */
static void publish(void)
{
    explore_check(collopt_segment_publish(NUMBER, 1), "there is no memory");
}

static void publish_another(void)
{
    explore_check(collopt_segment_publish(NUMBER + 1, 2), "there is no memory");
}

static void find_both(void)
{
    explore_until(collopt_segment_find(memory, NUMBER) == 1);
    explore_until(collopt_segment_find(memory, NUMBER + 1) == 2);
}

static void make_and_write(void)
{
    explore_check(collopt_journal_make(&journal, NUMBER, 2, 0), "there is no memory");
    write_records(1, 1, 8);
    write_records(2, 2, BLOCK);
}

static void open_and_read(void)
{
    open_it();
    read_records(2);
}

/* ---- pages and blocks ------------------------------------------------------------------------ */

static void begin_page(void)
{
    make();
    write_records(1, COLLOPT_RECORDS - 1, 8);
    open_it();
}

static void write_to_next_page(void)
{
    write_records(COLLOPT_RECORDS, COLLOPT_RECORDS + 1, 8);
}

static void read_next_page(void)
{
    read_records(COLLOPT_RECORDS + 1);
}

static void begin_blocks(void)
{
    make();
    write_records(1, MANY, BLOCK);
    open_it();
}

static void write_blocks(void)
{
    write_records(MANY + 1, MANY + 2, BLOCK);
}

static void read_blocks(void)
{
    read_records(MANY + 2);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void begin_open(void)
{
    make();
    open_it();
}

static void write_and_break_off(void)
{
    write_records(1, 1, 8);
    collopt_journal_break_off(&journal);
}

static void read_until_cut_off(void)
{
    const struct collopt_record *record;

    for (;;) {
        explore_until((record = collopt_reader_look(&reader)) != NULL
                      || collopt_reader_is_cut_off(&reader));
        if (!record)
            break;
        read_record(record);
    }
    explore_check(reader.number == 1, "a record before the end is missed");
}

/* Its memory serves at once as another journal's. */
static void write_and_close(void)
{
    write_records(1, 1, BLOCK);
    explore_until(collopt_journal_close(&journal));
    collopt_journal_make(&journal, NUMBER + 1, 2, 0);
    write_records(1, 1, BLOCK);
}

static void read_and_close(void)
{
    read_records(1);
    collopt_reader_close(&reader);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "journal", begin_nothing, { make_and_write, open_and_read }, NULL },
        { "journal in a directory", begin_directory, { make_and_write, open_and_read }, NULL },
        { "two make a directory", begin_nothing, { publish, publish_another, find_both }, NULL },
        { "next page", begin_page, { write_to_next_page, read_next_page }, NULL },
        { "blocks used again", begin_blocks, { write_blocks, read_blocks }, NULL },
        { "journal broken off", begin_open, { write_and_break_off, read_until_cut_off }, NULL },
        { "journal closed", begin_open, { write_and_close, read_and_close }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
