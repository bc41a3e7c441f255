/* From the handle of a communicator to its state: threads with a communicator each, both of which
 * have one place in the table. */
#include "mpi/comm/comm.c"

enum { COMMUNICATORS = 2, A_HANDLE = 0x44000000 };
static struct collopt_comm *attribute[COMMUNICATORS];
static pthread_mutex_t of_host = PTHREAD_MUTEX_INITIALIZER;
static struct collopt_settings settings;

static MPI_Comm handle[COMMUNICATORS];

static void find_handles(void)
{
    uintptr_t other = A_HANDLE + 1;

    while (slot_of((MPI_Comm)other) != slot_of((MPI_Comm)A_HANDLE))
        other++;
    handle[0] = (MPI_Comm)A_HANDLE;
    handle[1] = (MPI_Comm)other;
}

static int number_of(MPI_Comm comm)
{
    return comm == handle[0] ? 0 : 1;
}

const struct collopt_settings *collopt_settings(void)
{
    return &settings;
}

void collopt_prepare(void)
{
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *end,
                            int *key, void *extra)
{
    (void)copy, (void)end, (void)extra;
    *key = 1;
    return MPI_SUCCESS;
}

int PMPI_Comm_free_keyval(int *key)
{
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    (void)key;
    pthread_mutex_lock(&of_host);
    *(struct collopt_comm **)value = attribute[number_of(comm)];
    *found = attribute[number_of(comm)] != NULL;
    pthread_mutex_unlock(&of_host);
    return MPI_SUCCESS;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
    (void)key;
    pthread_mutex_lock(&of_host);
    attribute[number_of(comm)] = value;
    pthread_mutex_unlock(&of_host);
    return MPI_SUCCESS;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *inter)
{
    (void)comm;
    *inter = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    *rank = number_of(comm);
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *ranks)
{
    (void)comm;
    *ranks = COMMUNICATORS;
    return MPI_SUCCESS;
}

static void find(int n)
{
    explore_check(collopt_comm_find(handle[n])->rank == n, "a state is another's");
}

static void begin(void)
{
    find_handles();
    explore_private(&lacks_memory, sizeof lacks_memory);
    explore_private(&leaving, sizeof leaving);
    memset(recent, 0, sizeof recent);
    memset(attribute, 0, sizeof attribute);
    unused = every = NULL;
    keyval = MPI_KEYVAL_INVALID;
    find(1);
    memset(recent, 0, sizeof recent);
    unused = NULL;              /* what thread 0 has made is known to all */
}

static void find_new(void)
{
    find(0);
}

static void find_known(void)
{
    find(1);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "handles of communicators", begin, { find_new, find_known }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
