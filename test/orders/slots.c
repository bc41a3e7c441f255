/* Slots of persistent reductions: each rank's start, its input read by the others, and slots used
 * again.  What shared.c does with inputs is left to stand-ins that write and read them whole. */
#include "mpi/request/persistent.c"

enum { RANKS = 2, INPUT = 16 };
static struct persistent *rank[RANKS];

size_t collopt_shared_published(const struct collopt_shared *s)
{
    (void)s;
    return INPUT;
}

void collopt_shared_begin(struct collopt_shared *s)
{
    s->seen = 0;
}

void collopt_shared_copy_in(struct collopt_shared *s, char *to)
{
    memcpy(to, &s->number, sizeof s->number);
}

bool collopt_shared_combine(struct collopt_shared *s)
{
    for (int r = 0; r < s->operands; r++) {
        uint64_t number;

        memcpy(&number, s->data(s, r), sizeof number);
        explore_check(number == s->number, "an input is that of another start");
    }
    return true;
}

void collopt_shared_end(struct collopt_shared *s)
{
    collopt_set_state(&s->r, COLLOPT_DONE);
}

uint64_t collopt_timing_begin(void)
{
    return 0;
}

uint64_t collopt_timing_end(uint64_t before)
{
    return before;
}

static void make(enum collopt_collective collective)
{
    char *memory = NULL;

    for (int r = 0; r < RANKS; r++) {
        struct persistent *p = explore_memory(sizeof *p);

        p->s.r.collective = collective;
        p->s.rank = r;
        p->s.ranks = RANKS;
        p->s.operands = collective == COLLOPT_SCAN ? r + 1 : RANKS;
        lay_out(p);
        p->memory = memory = memory ? memory : explore_memory(p->size);
        find_places(p);
        rank[r] = p;
    }
}

static bool goes_on(struct persistent *p)
{
    go_on(&p->s.r);
    return collopt_state_of(&p->s.r) == COLLOPT_DONE;
}

static void run(int r, int starts)
{
    while (starts-- > 0) {
        start(&rank[r]->s.r);
        explore_until(goes_on(rank[r]));
    }
}

static void begin_both_ways(void)
{
    make(COLLOPT_ALLREDUCE);
}

/* There are two slots: the third start gets that of the first one. */
static void start_three(void)
{
    run(0, 2);
    start(&rank[0]->s.r);
}

static void start_two(void)
{
    run(1, 2);
}

/* The first rank, which needs no other, has started until one slot is left. */
static void begin_one_way(void)
{
    make(COLLOPT_SCAN);
    run(0, SLOTS - 1);
}

static void start_last_and_first(void)
{
    run(0, 1);
    start(&rank[0]->s.r);
}

static void start_some(void)
{
    run(1, ACK_INTERVAL + 1);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "slots, both ways", begin_both_ways, { start_three, start_two }, NULL },
        { "slots, one way", begin_one_way, { start_last_and_first, start_some }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
