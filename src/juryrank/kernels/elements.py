"""Elements of arrays that kernels only read, for kernels that run uncompiled."""

import cython

Float = cython.double
Int = Int32 = cython.longlong
Byte = cython.uchar
