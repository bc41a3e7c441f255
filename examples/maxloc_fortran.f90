! The same as maxloc.c in Fortran: the greatest and the least value of each of 30 columns, and the rank that owns it.
! Fortran has no pair types; MPI_2DOUBLE_PRECISION holds value and rank, both as double precision.
program maxloc_fortran
  use mpi_f08
  implicit none

  integer, parameter :: n = 30
  double precision :: mine(2, n), greatest(2, n), least(2, n)
  integer :: rank, ranks, i, r, wrong

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  do i = 1, n
    mine(1, i) = height(rank, i)
    mine(2, i) = rank
  end do
  call MPI_Reduce(mine, greatest, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, 0, MPI_COMM_WORLD)
  call MPI_Allreduce(mine, least, n, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD)

  ! maxloc and minloc of Fortran give the first of equals, as those of MPI do.
  wrong = 0
  do i = 1, n
    associate (heights => [(height(r, i), r = 0, ranks - 1)])
      if (rank == 0) then
        if (any(greatest(:, i) /= [maxval(heights), dble(maxloc(heights, 1) - 1)])) wrong = wrong + 1
      end if
      if (any(least(:, i) /= [minval(heights), dble(minloc(heights, 1) - 1)])) wrong = wrong + 1
    end associate
  end do

  if (rank == 0) print '(a, f3.1, a, i0, a, f3.1, a, i0)', 'maxloc_fortran: column 1: greatest ', greatest(1, 1), ' on rank ', &
    int(greatest(2, 1)), ', least ', least(1, 1), ' on rank ', int(least(2, 1))
  call MPI_Finalize()
  if (wrong > 0) stop 1

contains

  double precision function height(r, i)        ! equal on several ranks now and then
    integer, intent(in) :: r, i
    height = mod((r + 1) * (i + 2) * 7, 5) + 0.5d0
  end function

end program maxloc_fortran
