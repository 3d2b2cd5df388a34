! SPDX-License-Identifier: Apache-2.0
! The same with the module of Fortran 2008.
program talker
  use mpi_f08
  implicit none
  integer :: ierr, i
  double precision :: x(3), y(3)

  call MPI_Init(ierr)
  x = 1
  do i = 1, 7
    call MPI_Allreduce(x, y, 3, MPI_DOUBLE_PRECISION, MPI_SUM, &
      MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
end program talker
