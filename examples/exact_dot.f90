! A dot product with the same bits on any number of ranks, by collopt_exact_sum of collopt.h, where collopt is in the
! process.  Without it the plain one is taken, whose last bits differ.
!
! The function is looked up by dlsym, so that the program need not be linked with collopt.
program exact_dot
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none

  ! COLLOPT_EXACT_DOT and COLLOPT_EXACT_DOUBLE
  integer(c_int), parameter :: exact_dot_product = 2, exact_double = 1

  abstract interface
    integer(c_int) function exact_sum(operation, kind, n, x, x_stride, y, y_stride, total, comm) bind(c)
      import :: c_int, c_size_t, c_ptr, c_intptr_t
      integer(c_int), value :: operation, kind, comm
      integer(c_size_t), value :: n
      integer(c_intptr_t), value :: x_stride, y_stride
      type(c_ptr), value :: x, y, total
    end function
  end interface

  interface
    type(c_funptr) function dlsym(handle, name) bind(c)
      import :: c_funptr, c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface

  integer, parameter :: n = 20001
  double precision, parameter :: right = -6.931028683982304d-05       ! the correctly rounded product
  double precision, allocatable :: x(:), y(:)
  double precision :: found
  integer :: rank, ranks, first, last, i, ierr
  logical :: good

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  first = n * rank / ranks + 1
  last = n * (rank + 1) / ranks
  x = [(1d0 / i, i = first, last)]
  y = [((-1)**i / dble(n + 1 - i), i = first, last)]

  found = dot(x, y, MPI_COMM_WORLD)
  if (is_exact()) then
    good = found == right
  else
    good = abs(found - right) < 1d-12
  end if
  if (rank == 0) print '(a, l2)', 'exact_dot: right:', good
  call MPI_FINALIZE(ierr)
  if (.not. good) stop 1

contains

  logical function is_exact()
    is_exact = c_associated(dlsym(c_null_ptr, 'collopt_exact_sum' // c_null_char))
  end function

  double precision function dot(x, y, comm)
    double precision, intent(in), target, contiguous :: x(:), y(:)
    integer, intent(in) :: comm
    double precision, target :: total
    procedure(exact_sum), pointer :: collopt_exact_sum
    integer :: err

    if (is_exact()) then
      call c_f_procpointer(dlsym(c_null_ptr, 'collopt_exact_sum' // c_null_char), collopt_exact_sum)
      if (collopt_exact_sum(exact_dot_product, exact_double, int(size(x), c_size_t), c_loc(x), 1_c_intptr_t, &
                            c_loc(y), 1_c_intptr_t, c_loc(total), comm) /= 0) call MPI_ABORT(comm, 1, err)
    else
      call MPI_ALLREDUCE(sum(x * y), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, err)
    end if
    dot = total
  end function

end program exact_dot
