! Five times MPI_Allreduce, with the bindings that call PMPI_X on some hosts.
program keys
    use mpi
    implicit none
    integer :: rank, ranks, total, i, err
    logical :: right

    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
    right = .true.
    do i = 1, 5
        call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
        right = right .and. total == ranks * (ranks - 1) / 2
    end do
    if (rank == 0 .and. right) write (0, '(a)') 'fortran ok'
    call MPI_Finalize(err)
end program
