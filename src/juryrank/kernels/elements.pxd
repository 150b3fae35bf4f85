# Elements of arrays that kernels only read; those that they write are cython.double, cython.longlong and so on.
ctypedef const double Float
ctypedef const long long Int
ctypedef const int Int32
ctypedef const unsigned char Byte  # also of arrays of bool
