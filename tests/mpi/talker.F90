! SPDX-License-Identifier: Apache-2.0
! Seven sums of three numbers, as Fortran programs do it; MODULE is mpi or
! mpi_f08.
program talker
  use MODULE
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
