/* Makes the recording, and what is rarely written in it; see recorder.h. */
#include "config.h"

#include "recorder/recorder.h"
#include "shm/segment.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct collopt_recording_parts *collopt_recording;
bool collopt_recorder_threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what follows */
static uint64_t made;                   /* communicators, ever */
static _Atomic unsigned living;         /* communicators */
static unsigned named = COLLOPT_RECORDED_BY_COLLOPT + 1;
/* where the texts of the names are in this process */
static const char *known[COLLOPT_RECORDED_NAMES];

static void set_text(char to[COLLOPT_RECORDED_TEXT], const char *text)
{
    snprintf(to, COLLOPT_RECORDED_TEXT, "%s", text);
}

/* ---- the process ----------------------------------------------------------------------------- */

static uint32_t offset_of(const void *part)
{
    return (uint32_t)((const char *)part - (const char *)collopt_recording);
}

static uint64_t real_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fill_in(struct collopt_recording *h)
{
    h->version = COLLOPT_RECORDER_VERSION;
    h->bytes = sizeof *collopt_recording;
    h->process = getpid();
    h->rank = h->local_ranks = -1;
    h->started = real_time();
    set_text(h->collopt, PACKAGE_VERSION);
    h->calls_at = offset_of(collopt_recording->call);
    h->calls = COLLOPT_RECORDED_CALLS;
    h->comms_at = offset_of(collopt_recording->comm);
    h->comms = COLLOPT_RECORDED_COMMS;
    h->names_at = offset_of(collopt_recording->name);
    h->names = COLLOPT_RECORDED_NAMES;
    h->members_at = offset_of(collopt_recording->member);
    h->members = COLLOPT_RECORDED_MEMBERS;
    set_text(collopt_recording->name[COLLOPT_RECORDED_BY_HOST], "the MPI library");
    set_text(collopt_recording->name[COLLOPT_RECORDED_BY_COLLOPT], "collopt");
    h->magic = COLLOPT_RECORDER_MAGIC;
}

/* Its descriptor stays open, for those who look for it; this process does not use it any more, so
 * programs that close it lose no more than this. */
bool collopt_recorder_begin(char *why, size_t size_of_why)
{
    struct collopt_segment_key key;
    size_t size = COLLOPT_SHM_LINE + sizeof *collopt_recording;
    char *at = collopt_segment_make_apart(size, size, &key, why, size_of_why);

    if (!at)
        return false;
    collopt_recording = (struct collopt_recording_parts *)(void *)(at + COLLOPT_SHM_LINE);
    fill_in(&collopt_recording->head);
    return true;
}

void collopt_recorder_introduce(const struct collopt_recorded_process *p)
{
    struct collopt_recording *h;

    if (!collopt_recording)
        return;
    h = &collopt_recording->head;
    h->job = p->job;
    h->rank = p->rank;
    h->ranks = p->ranks;
    h->local_ranks = p->local_ranks;
    set_text(h->host, p->host);
    set_text(h->mpi, p->mpi);
    __atomic_store_n(&h->begun, 1, __ATOMIC_RELEASE);
}

void collopt_recorder_finalizes(void)
{
    if (collopt_recording)
        atomic_store_explicit(&collopt_recording->head.life, COLLOPT_RECORDED_FINALIZES,
                              memory_order_relaxed);
}

/* ---- names ----------------------------------------------------------------------------------- */

unsigned collopt_recorder_name(const char *name)
{
    unsigned i;

    if (!collopt_recording)
        return COLLOPT_RECORDED_BY_COLLOPT;
    pthread_mutex_lock(&lock);
    for (i = COLLOPT_RECORDED_BY_COLLOPT + 1; i < named && known[i] != name; i++)
        ;
    if (i == COLLOPT_RECORDED_NAMES) {
        i = COLLOPT_RECORDED_BY_COLLOPT;
    } else if (i == named) {
        set_text(collopt_recording->name[i], name);
        known[named++] = name;
    }
    pthread_mutex_unlock(&lock);
    return i;
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool is_free(const struct collopt_recorded_comm *c)
{
    return atomic_load_explicit(&c->id, memory_order_relaxed) == 0;
}

/* Where so many ranks find room among the lists that there are; 0: nowhere.  Under the lock. */
static uint32_t room_for(int ranks)
{
    uint32_t at = collopt_recording->head.members_at;
    uint32_t end = at + COLLOPT_RECORDED_MEMBERS * sizeof(int32_t);
    uint32_t size = (uint32_t)ranks * sizeof(int32_t);

    for (int i = 0; i < COLLOPT_RECORDED_COMMS; i++) {
        const struct collopt_recorded_comm *c = &collopt_recording->comm[i];
        uint32_t from = c->members, to = from + (uint32_t)c->ranks * sizeof(int32_t);

        if (!is_free(c) && from != 0 && at < to && from < at + size) {
            at = to;
            i = -1;             /* it may meet an earlier one now */
        }
    }
    return ranks <= COLLOPT_RECORDED_MEMBERS && at + size <= end ? at : 0;
}

static uint32_t list_members(const int *member, int ranks)
{
    uint32_t at = room_for(ranks);

    if (at != 0)
        memcpy((char *)collopt_recording + at, member, (size_t)ranks * sizeof(int32_t));
    return at;
}

/* C is being changed until END. */
static void begin_change(struct collopt_recorded_comm *c)
{
    c->generation |= 1;
    atomic_thread_fence(memory_order_release);
}

static void end_change(struct collopt_recorded_comm *c, uint64_t generation)
{
    atomic_store_explicit(&c->generation, generation, memory_order_release);
}

static struct collopt_recorded_comm *first_free(void)
{
    for (int i = 0; i < COLLOPT_RECORDED_COMMS; i++)
        if (is_free(&collopt_recording->comm[i]))
            return &collopt_recording->comm[i];
    return NULL;
}

bool collopt_recorder_has_room(void)
{
    return collopt_recording
        && atomic_load_explicit(&living, memory_order_relaxed) < COLLOPT_RECORDED_COMMS;
}

struct collopt_recorded_comm *collopt_recorder_add_comm(const struct collopt_recorded_comm *about,
                                                        const int *member)
{
    struct collopt_recorded_comm *c;

    if (!collopt_recorder_has_room())
        return NULL;
    pthread_mutex_lock(&lock);
    if ((c = first_free())) {
        begin_change(c);
        c->calls = c->starts = 0;
        c->latest = 0;
        c->flags = about->flags;
        c->rank = about->rank;
        c->ranks = about->ranks;
        set_text(c->name, about->name);
        c->members = member ? list_members(member, about->ranks) : 0;
        c->id = about->id;
        end_change(c, 2 * ++made);
        living++;
    }
    pthread_mutex_unlock(&lock);
    return c;
}

void collopt_recorder_agree_comm(struct collopt_recorded_comm *c, uint64_t id)
{
    uint64_t generation = c->generation;

    begin_change(c);
    c->id = id;
    c->flags |= COLLOPT_RECORDED_AGREED;
    end_change(c, generation);
}

void collopt_recorder_remove_comm(struct collopt_recorded_comm *c)
{
    pthread_mutex_lock(&lock);
    begin_change(c);
    c->id = 0;
    c->members = 0;
    end_change(c, 2 * ++made);
    living--;
    pthread_mutex_unlock(&lock);
}
