! Dot product of two vectors that are spread over the ranks, once with the result on rank 0 (MPI_REDUCE) and once with
! the result everywhere (MPI_ALLREDUCE).
!
! All elements are small whole numbers, so the sum is exact in any order and must be the same for any number of ranks.
program dot_product
  use mpi
  implicit none

  integer, parameter :: n = 100000
  double precision, allocatable :: a(:), b(:)
  double precision :: at_root, everywhere, expected
  integer :: rank, ranks, first, last, i, ierr

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)

  ! This rank's slice of the vectors.
  first = int(int(n, 8) * rank / ranks) + 1
  last = int(int(n, 8) * (rank + 1) / ranks)
  allocate(a(first:last), b(first:last))
  a = [(element_a(i), i = first, last)]
  b = [(element_b(i), i = first, last)]

  at_root = -1
  call dot_at_root(a, b, at_root, MPI_COMM_WORLD)
  call dot_everywhere(a, b, everywhere, MPI_COMM_WORLD)

  expected = 0
  do i = 1, n
    expected = expected + element_a(i) * element_b(i)
  end do

  if (rank == 0) print '(a, f9.1, a, f9.1)', 'dot_product: reduce', at_root, ', allreduce', everywhere
  call MPI_FINALIZE(ierr)
  if (everywhere /= expected .or. (rank == 0 .and. at_root /= expected)) stop 1

contains

  double precision function element_a(i)
    integer, intent(in) :: i
    element_a = mod(i, 7)
  end function

  double precision function element_b(i)
    integer, intent(in) :: i
    element_b = mod(i, 5)
  end function

  subroutine dot_at_root(a, b, c, comm)
    double precision, intent(in) :: a(:), b(:)
    double precision, intent(inout) :: c        ! set on rank 0 only
    integer, intent(in) :: comm
    double precision :: part
    integer :: ierr

    part = sum(a * b)
    call MPI_REDUCE(part, c, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierr)
  end subroutine

  subroutine dot_everywhere(a, b, c, comm)
    double precision, intent(in) :: a(:), b(:)
    double precision, intent(out) :: c
    integer, intent(in) :: comm
    double precision :: part
    integer :: ierr

    part = sum(a * b)
    call MPI_ALLREDUCE(part, c, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
  end subroutine

end program dot_product
