! Wrong arguments from Fortran, by one of its bindings: one line for each case, with the error class and the handlers that
! were called.  The files of a run with collopt and of one without must be the same.
!
!     errors FILE       FILE.<rank>
!
! All cases are wrong on all ranks, so that no rank waits.

#include "binding.inc"

module handlers
#if defined USE_MPI
  use mpi
#elif defined USE_MPI_F08
  use mpi_f08
#endif
  implicit none
#if defined USE_MPIF_H
  include 'mpif.h'
#endif

  character(len=200) :: heard = ''

contains

  integer function class_of(code)
    integer, intent(in) :: code
    integer :: err

    call MPI_Error_class(code, class_of, err)
  end function

  subroutine note(whose, code)
    character(len=*), intent(in) :: whose
    integer, intent(in) :: code
    character(len=20) :: number

    write (number, '(i0)') class_of(code)
    heard = trim(heard) // ', handler of ' // whose // ' ' // number
  end subroutine

  subroutine of_own(comm, code)
    HANDLE_COMM :: comm
    integer :: code

    call note('own', code)
  end subroutine

  subroutine of_world(comm, code)
    HANDLE_COMM :: comm
    integer :: code

    call note('world', code)
  end subroutine
end module

program errors
  use handlers
  implicit none

  integer, parameter :: FUNCTIONS = 8, MISTAKES = 8
  character(len=20), parameter :: function_names(FUNCTIONS) = [character(len=20) :: 'Reduce', 'Allreduce', &
    'Reduce_scatter', 'Reduce_scatter_block', 'Scan', 'Exscan', 'Iallreduce', 'Ireduce']
  character(len=20), parameter :: mistake_names(MISTAKES) = [character(len=20) :: 'none', 'null operation', &
    'null datatype', 'null communicator', 'root -1', 'root p', 'bits of doubles', 'replace']
  integer :: f, m, rank, ranks, err, mode
  HANDLE_COMM :: own
  character(len=400) :: path

  call MPI_Init(err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
  call get_command_argument(1, path)
  write (path, '(a,a,i0)') trim(path), '.', rank
  open (unit=7, file=path)
  call MPI_Comm_dup(MPI_COMM_WORLD, own, err)
  do mode = 1, 2
    call set_handlers(mode)
    do f = 1, FUNCTIONS
      do m = 1, MISTAKES
        call try(f, m)
      end do
    end do
  end do
  close (7)
  call MPI_Finalize(err)

contains

  subroutine set_handlers(mode)
    integer, intent(in) :: mode
#if defined USE_MPI_F08
    type(MPI_Errhandler) :: handler
#else
    integer :: handler
#endif

    if (mode == 1) then
      call MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN, err)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, err)
      return
    end if
    call MPI_Comm_create_errhandler(of_own, handler, err)
    call MPI_Comm_set_errhandler(own, handler, err)
    call MPI_Comm_create_errhandler(of_world, handler, err)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, err)
  end subroutine

  subroutine try(f, m)
    integer, intent(in) :: f, m
    HANDLE_OP :: op
    HANDLE_TYPE :: type
    HANDLE_COMM :: comm
    integer :: root, code

    op = MPI_SUM
    type = MPI_INTEGER
    comm = own
    root = 0
    select case (m)
    case (2)
      op = MPI_OP_NULL
    case (3)
      type = MPI_DATATYPE_NULL
    case (4)
      comm = MPI_COMM_NULL
    case (5)
      root = -1
    case (6)
      root = ranks
    case (7)
      op = MPI_BAND
      type = MPI_DOUBLE_PRECISION
    case (8)
      op = MPI_REPLACE
    end select
    if ((m == 5 .or. m == 6) .and. f /= 1 .and. f /= 8) return
    heard = ''
    call do_call(f, op, type, root, comm, code)
    write (7, '(a,", ",a,": ",i0,a)') trim(function_names(f)), trim(mistake_names(m)), class_of(code), trim(heard)
    flush (7)
  end subroutine

  subroutine do_call(f, op, type, root, comm, code)
    integer, intent(in) :: f, root
    HANDLE_OP, intent(in) :: op
    HANDLE_TYPE, intent(in) :: type
    HANDLE_COMM, intent(in) :: comm
    integer, intent(out) :: code
    HANDLE_REQUEST :: request
    integer, parameter :: most = 64
    integer, save :: in(4 * most) = 1, out(4 * most), counts(most) = 2

    select case (f)
    case (1)
      call MPI_Reduce(in, out, 2, type, op, root, comm, code)
    case (2)
      call MPI_Allreduce(in, out, 2, type, op, comm, code)
    case (3)
      call MPI_Reduce_scatter(in, out, counts, type, op, comm, code)
    case (4)
      call MPI_Reduce_scatter_block(in, out, 2, type, op, comm, code)
    case (5)
      call MPI_Scan(in, out, 2, type, op, comm, code)
    case (6)
      call MPI_Exscan(in, out, 2, type, op, comm, code)
    case (7)
      call MPI_Iallreduce(in, out, 2, type, op, comm, request, code)
      if (code == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    case (8)
      call MPI_Ireduce(in, out, 2, type, op, root, comm, request, code)
      if (code == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    end select
  end subroutine
end program
