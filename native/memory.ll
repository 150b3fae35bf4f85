; The few functions of Numba's runtime that kernels need.
;
; Memory is counted. A block begins with 48 bytes, laid out as Numba expects: the number of references, whether the data is
; a piece of memory of its own (that of a list), the function that releases its elements, the address of the data, the size.

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}

define void @NRT_Free(ptr %block) {
  call void @free(ptr %block)
  ret void
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 32)
  ret ptr %block
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align32) {
  %align = zext i32 %align32 to i64
  %padded = add i64 %size, %align
  %total = add i64 %padded, 48
  %overflow = icmp ult i64 %total, %size
  br i1 %overflow, label %none, label %allocate
allocate:
  %block = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %none, label %fill
fill:
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 48, i1 false)
  store i64 1, ptr %block
  %start = ptrtoint ptr %block to i64
  %after = add i64 %start, 48
  %last = sub i64 %align, 1
  %up = add i64 %after, %last
  %mask = sub i64 0, %align
  %address = and i64 %up, %mask
  %data_field = getelementptr i8, ptr %block, i64 24
  store i64 %address, ptr %data_field
  %size_field = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %size_field
  ret ptr %block
none:
  ret ptr null
}

; The memory of a list: block and data are separate.
define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %release_elements) {
  %data = call ptr @malloc(i64 %size)
  %no_data = icmp eq ptr %data, null
  br i1 %no_data, label %none, label %head
head:
  %block = call ptr @malloc(i64 48)
  %no_block = icmp eq ptr %block, null
  br i1 %no_block, label %undo, label %fill
undo:
  call void @free(ptr %data)
  br label %none
fill:
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 48, i1 false)
  store i64 1, ptr %block
  %own_field = getelementptr i8, ptr %block, i64 8
  store i64 1, ptr %own_field
  %release_field = getelementptr i8, ptr %block, i64 16
  store ptr %release_elements, ptr %release_field
  %data_field = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %data_field
  %size_field = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %size_field
  ret ptr %block
none:
  ret ptr null
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  %own_field = getelementptr i8, ptr %block, i64 8
  %own = load i64, ptr %own_field
  %is_list = icmp ne i64 %own, 0
  br i1 %is_list, label %list, label %done
list:
  %data_field = getelementptr i8, ptr %block, i64 24
  %data = load ptr, ptr %data_field
  %release_field = getelementptr i8, ptr %block, i64 16
  %release = load ptr, ptr %release_field
  %simple = icmp eq ptr %release, null
  br i1 %simple, label %free_data, label %elements
elements:
  %size_field = getelementptr i8, ptr %block, i64 32
  %size = load i64, ptr %size_field
  call void %release(ptr %data, i64 %size, ptr null)
  br label %free_data
free_data:
  call void @free(ptr %data)
  br label %done
done:
  call void @free(ptr %block)
  ret void
}

; New strides of an array in C order; 0 if the array is not contiguous, and would have to be copied.
define i32 @numba_attempt_nocopy_reshape(i64 %nd, ptr %dims, ptr %strides, i64 %newnd, ptr %newdims, ptr %newstrides,
                                         i64 %itemsize, i32 %is_f_order) {
entry:
  %c_order = icmp eq i32 %is_f_order, 0
  br i1 %c_order, label %old, label %no
old:
  %i = phi i64 [ %nd, %entry ], [ %i_next, %old_next ]
  %step = phi i64 [ %itemsize, %entry ], [ %step_next, %old_next ]
  %old_done = icmp eq i64 %i, 0
  br i1 %old_done, label %new, label %old_check
old_check:
  %i_next = sub i64 %i, 1
  %dim_at = getelementptr i64, ptr %dims, i64 %i_next
  %dim = load i64, ptr %dim_at
  %stride_at = getelementptr i64, ptr %strides, i64 %i_next
  %stride = load i64, ptr %stride_at
  %short = icmp sle i64 %dim, 1
  %regular = icmp eq i64 %stride, %step
  %fits = or i1 %short, %regular
  br i1 %fits, label %old_next, label %no
old_next:
  %step_next = mul i64 %step, %dim
  br label %old
new:
  %j = phi i64 [ %newnd, %old ], [ %j_next, %new_next ]
  %size = phi i64 [ %itemsize, %old ], [ %size_next, %new_next ]
  %new_done = icmp eq i64 %j, 0
  br i1 %new_done, label %compare, label %new_next
new_next:
  %j_next = sub i64 %j, 1
  %newdim_at = getelementptr i64, ptr %newdims, i64 %j_next
  %newdim = load i64, ptr %newdim_at
  %newstride_at = getelementptr i64, ptr %newstrides, i64 %j_next
  store i64 %size, ptr %newstride_at
  %size_next = mul i64 %size, %newdim
  br label %new
compare:
  %same = icmp eq i64 %step, %size
  br i1 %same, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 0
}

; Part of the text of an exception, which is not used: a failing kernel is run again by Numba, which raises it.
@PyExc_RuntimeError = global ptr null
define void @PyErr_SetString(ptr %kind, ptr %text) {
  ret void
}

; Copy the data of an array that a kernel returned, and release its block.
define void @take_array(i64 %owner, i64 %from, i64 %to, i64 %bytes) {
  %target = inttoptr i64 %to to ptr
  %source = inttoptr i64 %from to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  %block = inttoptr i64 %owner to ptr
  %absent = icmp eq ptr %block, null
  br i1 %absent, label %done, label %release
release:
  %count = load i64, ptr %block
  %rest = sub i64 %count, 1
  store i64 %rest, ptr %block
  %unused = icmp eq i64 %rest, 0
  br i1 %unused, label %drop, label %done
drop:
  call void @NRT_MemInfo_call_dtor(ptr %block)
  br label %done
done:
  ret void
}

; Address of the data, length and stride of an array of one dimension, as kernels read them from NumPy's object.
define void @describe_array(i64 %array, i64 %out) {
  %fields = inttoptr i64 %array to ptr
  %target = inttoptr i64 %out to ptr
  %data_at = getelementptr i64, ptr %fields, i64 2
  %data = load i64, ptr %data_at
  store i64 %data, ptr %target
  %dimensions_at = getelementptr i64, ptr %fields, i64 4
  %dimensions = load ptr, ptr %dimensions_at
  %length = load i64, ptr %dimensions
  %length_to = getelementptr i64, ptr %target, i64 1
  store i64 %length, ptr %length_to
  %strides_at = getelementptr i64, ptr %fields, i64 5
  %strides = load ptr, ptr %strides_at
  %stride = load i64, ptr %strides
  %stride_to = getelementptr i64, ptr %target, i64 2
  store i64 %stride, ptr %stride_to
  ret void
}
