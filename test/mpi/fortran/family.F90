! The whole family of reductions from Fortran, by one of its three bindings: compiled with -DUSE_MPIF_H, -DUSE_MPI or
! -DUSE_MPI_F08.  Every result is compared with a serial fold in rank order, and every call must have been counted by
! collopt exactly once (counters.c; not without collopt).
!
! Integers, LOGICAL and DOUBLE PRECISION with predefined operations, MPI_2INTEGER with MPI_MAXLOC, and Fortran procedures as
! operations: a commutative one, and one (the composition of affine maps) that is not.  Each with separate buffers and
! with MPI_IN_PLACE; sections a(1:n:2) as buffers; a datatype with absolute addresses and MPI_BOTTOM.

#include "binding.inc"

! The operations.  In a module, because a procedure inside the program could only be passed on by an executable stack.
module operations
#if defined USE_MPI
  use mpi
#elif defined USE_MPI_F08
  use mpi_f08
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if defined USE_MPIF_H
  include 'mpif.h'
#endif

  ! What the elements are and how they are combined.
  integer, parameter :: ADDED = 1, LARGEST = 2, TIMES = 3, AFFINE = 4, PARITY = 5
  integer, parameter :: modulus = 9973

  HANDLE_TYPE :: pair           ! of integers, the element of AFFINE
  integer :: wrong = 0

  integer, parameter :: apart = 9
  integer, target :: scattered(2 * apart)       ! every other one is in the datatype with absolute addresses

contains

  function combined(kind, left, right) result(v)
    integer, intent(in) :: kind, left(2), right(2)
    integer :: v(2)

    select case (kind)
    case (LARGEST)
      v = left
      if (right(1) > left(1) .or. (right(1) == left(1) .and. right(2) < left(2))) v = right
    case (TIMES)
      v = mod(left * right, modulus)
    case (AFFINE)                               ! x -> left(1) x + left(2), then right
      v = [mod(left(1) * right(1), modulus), mod(left(2) * right(1) + right(2), modulus)]
    case (PARITY)
      v = mod(left + right, 2)
    case default
      v = left + right
    end select
  end function

#if defined USE_MPI_F08
  subroutine times_user(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)

    if (type /= MPI_INTEGER) wrong = wrong + 1
    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    b = mod(a * b, modulus)
  end subroutine

  subroutine affine_user(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n, i
    type(MPI_Datatype) :: type
    integer, pointer :: a(:,:), b(:,:)

    if (type /= pair) wrong = wrong + 1
    call c_f_pointer(in, a, [2, n])
    call c_f_pointer(inout, b, [2, n])
    do i = 1, n
      b(:, i) = combined(AFFINE, a(:, i), b(:, i))
    end do
  end subroutine

  subroutine scattered_user(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type

    call add_scattered(in, inout, n, type)
  end subroutine
#else
  subroutine times_user(in, inout, n, type)
    integer :: n, type, in(n), inout(n)

    if (type /= MPI_INTEGER) wrong = wrong + 1
    inout = mod(in * inout, modulus)
  end subroutine

  subroutine affine_user(in, inout, n, type)
    integer :: n, type, in(2, n), inout(2, n), i

    if (type /= pair) wrong = wrong + 1
    do i = 1, n
      inout(:, i) = combined(AFFINE, in(:, i), inout(:, i))
    end do
  end subroutine

  subroutine scattered_user(in, inout, n, type)
    integer, target :: in(*), inout(*)
    integer :: n, type

    call add_scattered(c_loc(in), c_loc(inout), n, type)
  end subroutine
#endif

  ! One element, which begins far from the address that stands for it.
  subroutine add_scattered(in, inout, n, type)
    type(c_ptr), intent(in) :: in, inout
    integer, intent(in) :: n
    HANDLE_TYPE, intent(in) :: type
    integer(MPI_ADDRESS_KIND) :: low, extent
    integer, pointer :: a(:), b(:)
    integer :: ierr

    if (n /= 1) wrong = wrong + 1
    call MPI_Type_get_true_extent(type, low, extent, ierr)
    call c_f_pointer(moved(in, low), a, [2 * apart - 1])
    call c_f_pointer(moved(inout, low), b, [2 * apart - 1])
    b(1::2) = b(1::2) + a(1::2)
  end subroutine

  function moved(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes
    type(c_ptr) :: moved

    moved = transfer(transfer(address, 0_c_intptr_t) + bytes, c_null_ptr)
  end function

  ! What the MPI library alone fails in is left out.
  logical function tested(what)
    character(len=*), intent(in) :: what
    character(len=80) :: without

    call get_environment_variable('TEST_WITHOUT', without)
    tested = index(without, what) == 0
  end function

end module operations

program family
  use operations
  implicit none

  interface             ! counters.c
    integer(c_long) function counted(collective) bind(c)
      import c_long, c_char
      character(kind=c_char), intent(in) :: collective(*)
    end function
    integer(c_long) function passed(name) bind(c)
      import c_long, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function present_here() bind(c)
      import c_int
    end function
    subroutine fail_now() bind(c)
    end subroutine
  end interface

  HANDLE_OP :: times_op, affine_op
  integer :: rank, ranks, ierr, checks = 0
  integer(c_long) :: calls_before, passed_before

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
  call MPI_Type_commit(pair, ierr)
  call MPI_Op_create(times_user, .true., times_op, ierr)
  call MPI_Op_create(affine_user, .false., affine_op, ierr)

  call integers('sum', ADDED, 1, MPI_INTEGER, MPI_SUM, 7)
  call integers('sum, long', ADDED, 1, MPI_INTEGER, MPI_SUM, 20011)
  call integers('maxloc', LARGEST, 2, MPI_2INTEGER, MPI_MAXLOC, 13)
  call integers('user, commutative', TIMES, 1, MPI_INTEGER, times_op, 10)
  call integers('user, in order', AFFINE, 2, pair, affine_op, 11)
  call integers('user, in order, long', AFFINE, 2, pair, affine_op, 5003)
  call integers('nothing', ADDED, 1, MPI_INTEGER, MPI_SUM, 0)
  call logicals('xor', PARITY, 1, MPI_LOGICAL, MPI_LXOR, 9)
  call doubles('sum', ADDED, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 17)
  if (tested('sections')) call sections()
  call bottom()

  call MPI_Op_free(times_op, ierr)
  call MPI_Op_free(affine_op, ierr)
  call MPI_Type_free(pair, ierr)
  if (rank == 0) print '(2a, i0, a, i0, 2a)', BINDING, ': ', checks, ' checks on ', ranks, ' ranks', &
                                             trim(merge(', counted by collopt', '                    ', present_here() /= 0))
  call MPI_Finalize(ierr)
  if (wrong > 0) call fail_now()

contains

  ! ---- the elements ----

  function element(kind, of, i) result(v)       ! the i-th element that rank OF contributes
    integer, intent(in) :: kind, of, i
    integer :: v(2)

    select case (kind)
    case (LARGEST)
      v = [mod((of + 2) * (i + 3), 4), of]      ! with ties
    case (TIMES, AFFINE)
      v = [mod(of * 31 + i * 17, 97) + 2, mod(of * 7 + i, 89)]
    case (PARITY)
      v = mod((of + 1) * i / 2, 2)
    case default
      v = of * 1000 - i
    end select
  end function

  function folded(kind, w, first, last, i) result(v)    ! element i over the ranks first..last
    integer, intent(in) :: kind, w, first, last, i
    integer :: v(w), all(2), r

    all = element(kind, first, i)
    do r = first + 1, last
      all = combined(kind, all, element(kind, r, i))
    end do
    v = all(1:w)
  end function

  ! ---- one check ----

  subroutine begin()
    calls_before = counted(c_null_char)
    passed_before = passed(c_null_char)
  end subroutine

  ! After one call of COLLECTIVE.  A communicator of one rank may be left to the MPI.
  subroutine ended(collective, what, same)
    character(*), intent(in) :: collective, what
    logical, intent(in) :: same
    integer(c_long) :: ran, left

    ran = counted(c_null_char) - calls_before
    left = passed(c_null_char) - passed_before
    call judge(collective, what, same, merge(ran == 1 .and. left == 0, ran + left == 1, ranks > 1))
  end subroutine

  ! A local call: nothing is counted where a loop of ours did it.
  subroutine ended_local(collective, what, same)
    character(*), intent(in) :: collective, what
    logical, intent(in) :: same

    call judge(collective, what, same, &
               counted(c_null_char) - calls_before + passed(c_null_char) - passed_before <= 1)
  end subroutine

  subroutine judge(collective, what, same, once)
    character(*), intent(in) :: collective, what
    logical, intent(in) :: same, once

    checks = checks + 1
    if (.not. same) call complain(collective, what, ': wrong result')
    if (present_here() /= 0 .and. .not. once) call complain(collective, what, ': not counted once')
    if (ierr /= MPI_SUCCESS) call complain(collective, what, ': error returned')
  end subroutine

  subroutine complain(collective, what, message)
    character(*), intent(in) :: collective, what, message

    wrong = wrong + 1
    print '(7a, i0, a, i0)', BINDING, ': ', collective, ', ', what, message, ' on rank ', rank, ' of ', ranks
  end subroutine

  ! ---- the family, for three types of buffers ----

#define NAME integers
#define VALUE integer
#define OF_INTEGER(v) (v)
#define SAME(a, b) all((a) == (b))
#define POISON -77
#include "family.inc"
#undef NAME
#undef VALUE
#undef OF_INTEGER
#undef SAME
#undef POISON

#define NAME logicals
#define VALUE logical
#define OF_INTEGER(v) ((v) == 1)
#define SAME(a, b) all((a) .eqv. (b))
#define POISON .true.
#include "family.inc"
#undef NAME
#undef VALUE
#undef OF_INTEGER
#undef SAME
#undef POISON

#define NAME doubles
#define VALUE double precision
#define OF_INTEGER(v) dble(v)
#define SAME(a, b) all((a) == (b))
#define POISON -77
#include "family.inc"

  ! ---- every other element as a buffer ----

  ! Without MPI_SUBARRAYS_SUPPORTED the compiler passes copies.  With it (mpi_f08 of MPICH) the section arrives as a derived
  ! datatype, for which MPICH 4.0 refuses MPI_SUM: then the error must arrive, too.
  subroutine section_ended(collective, what, same)
    character(*), intent(in) :: collective, what
    logical, intent(in) :: same
    integer :: class, ignored

    if (ierr == MPI_SUCCESS) then
      call ended(collective, what, same)
    else
      call MPI_Error_class(ierr, class, ignored)
      ierr = MPI_SUCCESS
      call judge(collective, what, MPI_SUBARRAYS_SUPPORTED .and. class == MPI_ERR_OP, &
                 counted(c_null_char) == calls_before)
    end if
  end subroutine

  subroutine sections()
    integer, parameter :: n = 12
    integer :: a(2 * n), b(2 * n), i, all_sum(n), prefix(n)
    integer :: gaps(n)

    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    a = -1
    do i = 1, n
      a(2 * i - 1) = rank * 1000 - i
      all_sum(i) = ranks * (ranks - 1) / 2 * 1000 - i * ranks
      prefix(i) = rank * (rank + 1) / 2 * 1000 - i * (rank + 1)
    end do
    gaps = -77

    b = -77
    call begin()
    call MPI_Allreduce(a(1:2*n:2), b(1:2*n:2), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call section_ended('allreduce', 'section', all(b(1::2) == all_sum) .and. all(b(2::2) == gaps))

    b = -77
    call begin()
    call MPI_Reduce(a(1:2*n:2), b(1:2*n:2), n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    call section_ended('reduce', 'section', all(b(2::2) == gaps) .and. (rank > 0 .or. all(b(1::2) == all_sum)))

    b = -77
    call begin()
    call MPI_Scan(a(1:2*n:2), b(2*n-1:1:-2), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call section_ended('scan', 'section', all(b(2*n-1:1:-2) == prefix) .and. all(b(2::2) == gaps))

    b = -77
    b(1::2) = a(1::2)
    call begin()
    call MPI_Allreduce(MPI_IN_PLACE, b(1:2*n:2), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call section_ended('allreduce', 'section in place', all(b(1::2) == all_sum) .and. all(b(2::2) == gaps))
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  ! ---- absolute addresses ----

  ! Only MPI_IN_PLACE lets one datatype with absolute addresses stand for input and result.
  subroutine bottom()
    HANDLE_TYPE :: type
    HANDLE_OP :: op
    integer(MPI_ADDRESS_KIND) :: place(apart)
    integer :: i, length(apart), all_sum(apart), mine(apart), gaps(apart)

    length = 1
    gaps = -7
    do i = 1, apart
      call MPI_Get_address(scattered(2 * i - 1), place(i), ierr)
      mine(i) = rank * 1000 - i
      all_sum(i) = ranks * (ranks - 1) / 2 * 1000 - i * ranks
    end do
    call MPI_Type_create_hindexed(apart, length, place, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Op_create(scattered_user, .true., op, ierr)

    scattered(1::2) = mine
    scattered(2::2) = gaps
    call begin()
    call MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD, ierr)
    call ended('allreduce', 'MPI_BOTTOM', all(scattered(1::2) == all_sum) .and. all(scattered(2::2) == gaps))

    scattered(1::2) = mine
    call begin()
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, 0, MPI_COMM_WORLD, ierr)
      call ended('reduce', 'MPI_BOTTOM', all(scattered(1::2) == all_sum) .and. all(scattered(2::2) == gaps))
    else
      call MPI_Reduce(MPI_BOTTOM, MPI_BOTTOM, 1, type, op, 0, MPI_COMM_WORLD, ierr)
      call ended('reduce', 'MPI_BOTTOM', all(scattered(1::2) == mine) .and. all(scattered(2::2) == gaps))
    end if

    call MPI_Op_free(op, ierr)
    call MPI_Type_free(type, ierr)
  end subroutine

end program family
