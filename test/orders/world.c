/* The world, which MPI_Init opens while other threads look whether it is there. */
#include "mpi/node/world.c"

struct collopt_host collopt_host;
static struct collopt_locality here;

void collopt_segments_offer(struct collopt_segment_key *key)
{
    (void)key;
}

void collopt_segments_begin(MPI_Comm hidden, int rank, int ranks,
                            const struct collopt_locality *all, int *flags)
{
    (void)hidden, (void)rank, (void)ranks, (void)all, (void)flags;
}

void collopt_segments_end(void)
{
}

int collopt_localities_gather(MPI_Comm hidden, int rank, int ranks,
                              const struct collopt_segment_key *segment,
                              struct collopt_locality *all)
{
    (void)hidden, (void)rank, (void)ranks, (void)segment, (void)all;
    return MPI_SUCCESS;
}

bool collopt_agree(MPI_Comm comm, bool ready, bool *alike)
{
    (void)comm;
    return *alike = ready;
}

MPI_Errhandler collopt_save_errhandler(MPI_Comm comm)
{
    (void)comm;
    return MPI_ERRHANDLER_NULL;
}

void collopt_restore_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
}

void collopt_progress_agree(MPI_Comm hidden)
{
    (void)hidden;
}

void collopt_contexts_begin(int tag_ub)
{
    (void)tag_ub;
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *g)
{
    (void)comm;
    *g = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *ranks)
{
    (void)comm;
    *ranks = 1;
    return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    (void)comm, (void)key, (void)value;
    *found = 0;
    return MPI_SUCCESS;
}

static int split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void)comm, (void)color, (void)key;
    *made = MPI_COMM_SELF;
    return MPI_SUCCESS;
}

static void begin(void)
{
    opened = NULL;
    world = (struct collopt_world){ .hidden = MPI_COMM_NULL, .locality = &here };
    collopt_host.Comm_split = split;
}

static void open_it(void)
{
    collopt_world_open(true);
}

static void look(void)
{
    const struct collopt_world *w = collopt_world();

    if (w)
        explore_check(w->hidden == MPI_COMM_SELF && w->ranks == 1, "the world is not whole");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "world", begin, { open_it, look, look }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
