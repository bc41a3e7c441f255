/* The search path for files of rules and machines, if no variable names one. */
#ifndef COLLOPT_SETTINGS_SEARCH_PATH_H
#define COLLOPT_SETTINGS_SEARCH_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* "openmpi", "mpich", "smpi" in a backend; "" in a tool that does not know the host. */
extern const char *collopt_host_name;
/* The text of MPI_Get_library_version, or the number alone; "" or NULL if unknown. */
extern const char *collopt_host_version;
/* The first file of rules (ENDING "rules") or machine ("machine") for MPI on the search path;
 * false: none. */
bool collopt_default_file(char *const *environment, const char *mpi, const char *ending, char *path,
                          size_t size);
/* The two directories of the path; false: the user has none. */
bool collopt_users_directory(char *const *environment, char *path, size_t size);
const char *collopt_system_directory(void);
/* The file with measurements on this processor, with this MPI and its version, that comes with
 * collopt; false: none. And the directory of such files. */
bool collopt_bundled_file(char *const *environment, const char *mpi, const char *ending, char *path,
                          size_t size);
const char *collopt_data_directory(void);
/* The name of this processor in such file names; and the same for any processor's name:
 * "amd-epyc-7742-64-core-processor". */
void collopt_processor(char *word, size_t size);
void collopt_processor_word(const char *name, char *word, size_t size);

#endif
