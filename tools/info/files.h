/* The files of rules and of machines that a job reads here. */
#ifndef COLLOPT_TOOLS_INFO_FILES_H
#define COLLOPT_TOOLS_INFO_FILES_H

/* The user's, by a variable or in a default place; and those that come with collopt, which count
 * where the user's say nothing. */
enum { FILE_RULES, FILE_MACHINE, FILE_SHIPPED_RULES, FILE_SHIPPED_MACHINE, FILE_KINDS };
extern const char *const file_kinds[FILE_KINDS];

struct files_used {
    const char *file[FILE_KINDS];       /* NULL: none */
};

/* Of jobs with the MPI library number MPI of collopt_mpi_names: in the version that --host names,
 * else in that which the backend was built with. */
const struct files_used *files_used(int mpi);

#endif
