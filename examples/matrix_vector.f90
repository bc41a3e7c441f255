! Product of a vector and a matrix, c = a B, both spread over the ranks by rows of B: every rank multiplies its rows, and
! the partial results, vectors of length n, are added up on rank 0 (MPI_REDUCE) and everywhere (MPI_ALLREDUCE).
!
! All elements are small whole numbers, so the sums are exact in any order.
program matrix_vector
  use mpi
  implicit none

  integer, parameter :: m = 300, n = 200        ! B is m by n
  double precision, allocatable :: a(:), b(:,:)
  double precision :: at_root(n), everywhere(n), expected(n)
  integer :: rank, ranks, first, last, i, j, ierr

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)

  ! This rank's rows.
  first = m * rank / ranks + 1
  last = m * (rank + 1) / ranks
  allocate(a(first:last), b(first:last, n))
  a = [(element(i, 0), i = first, last)]
  do j = 1, n
    b(:, j) = [(element(i, j), i = first, last)]
  end do

  at_root = -1
  call product_at_root(a, b, at_root, MPI_COMM_WORLD)
  call product_everywhere(a, b, everywhere, MPI_COMM_WORLD)

  expected = 0
  do j = 1, n
    do i = 1, m
      expected(j) = expected(j) + element(i, 0) * element(i, j)
    end do
  end do

  if (rank == 0) print '(a, f10.1, a, f10.1)', 'matrix_vector: reduce, sum of the elements ', sum(at_root), &
                                             ', allreduce ', sum(everywhere)
  call MPI_FINALIZE(ierr)
  if (any(everywhere /= expected) .or. (rank == 0 .and. any(at_root /= expected))) stop 1

contains

  double precision function element(i, j)
    integer, intent(in) :: i, j
    element = mod(i * 3 + j * 5, 11)
  end function

  subroutine product_at_root(a, b, c, comm)
    double precision, intent(in) :: a(:), b(:,:)
    double precision, intent(inout) :: c(:)     ! set on rank 0 only
    integer, intent(in) :: comm
    double precision :: part(size(b, 2))
    integer :: ierr

    part = matmul(a, b)
    call MPI_REDUCE(part, c, size(part), MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierr)
  end subroutine

  subroutine product_everywhere(a, b, c, comm)
    double precision, intent(in) :: a(:), b(:,:)
    double precision, intent(out) :: c(:)
    integer, intent(in) :: comm
    double precision :: part(size(b, 2))
    integer :: ierr

    part = matmul(a, b)
    call MPI_ALLREDUCE(part, c, size(part), MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
  end subroutine

end program matrix_vector
