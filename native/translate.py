"""Kernels as one module of LLVM: each is reached through a function that takes the address of its arguments."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, codegen, types
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.np import arrayobj, numpy_support

from juryrank.kernels import jit, lists

INT64, INT32 = ir.IntType(64), ir.IntType(32)
SCALARS = {"b": types.boolean, "i": types.int64, "f": types.float64, "n": types.none}
FIELDS = (2, 4, 5)  # data, dimensions and strides in PyArrayObject, counted in 8 bytes; describe_array has the same
GENERATOR_FIELDS = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")


def only_translate() -> None:
    """From now on Numba translates functions without optimising them, and makes no machine code in this process."""
    numba.njit(lambda n: np.empty(n))(3)  # Numba's own runtime is made of functions that do need machine code

    def set_layout(self: Any, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    codegen.CPUCodeLibrary._optimize_functions = set_layout
    codegen.CPUCodeLibrary._optimize_final_module = lambda self: None
    codegen.JITCodeLibrary._finalize_specific = lambda self: None
    codegen.JITCPUCodegen._add_module = lambda self, module: None
    jit.KernelCache = lambda function: NullCache()  # type: ignore[assignment, misc]
    # Numba finds the translation of a function by this object, which must be a different built-in function each time.
    numba.core.cpu.CPUContext.get_executable = lambda self, library, fndesc, env: [].append


class Translation:
    """A module of LLVM that grows by one kernel at a time."""

    def __init__(self) -> None:
        self.module: Any = None
        self.symbols: set[str] = set()
        self.codegen: Any = None
        only_translate()

    def add(self, module: str, function: str, arguments: str, symbol: str) -> str:
        """Add a kernel; returns the type of its result."""
        name = importlib.import_module(f"juryrank.kernels.{module}").__name__
        kernel = next(k for k in jit.KERNELS if (k.function.__module__, k.function.__name__) == (name, function))
        argument_types = tuple(parse_types(arguments))
        with global_compiler_lock:
            dispatcher = jit.dispatcher(kernel)
            dispatcher.compile(argument_types)
            compiled = dispatcher.overloads[argument_types]
            compiled.library._ensure_finalized()
            entry, result = write_entry(compiled, argument_types, symbol)
            self.codegen = compiled.library.codegen
            self._link(llvm.parse_bitcode(compiled.library._final_module.as_bitcode()))
            self._link(llvm.parse_assembly(str(entry)))
        self.symbols.add(symbol)
        return result

    def _link(self, module: Any) -> None:
        if self.module is None:
            self.module = module
        else:
            self.module.link_in(module)

    def optimise(self, memory: str, also: set[str]) -> None:
        """Link the functions of ``memory``, keep what is reached from the kernels and from ``also``, and optimise."""
        self._link(llvm.parse_assembly(memory))
        self._keep(self.symbols | also)
        steps, builder = self.codegen._module_pass_manager(
            loop_vectorize=self.codegen._loopvect, slp_vectorize=False, opt=self.codegen._opt_level, cost="cheap"
        )
        steps.run(self.module, builder)  # as Numba does, so that its count of references is pruned after inlining
        steps, builder = self.codegen._module_pass_manager()
        steps.run(self.module, builder)

    def drop(self, outside: set[str], also: set[str]) -> dict[str, list[str]]:
        """Remove the kernels that call other functions than those of ``outside``; returns these functions by kernel."""
        everything = [*self.module.functions, *self.module.global_variables]
        absent = {each.name for each in everything if each.is_declaration and not each.name.startswith("llvm.")}
        names = {each.name for each in everything}
        calls = {function.name: names.intersection(operands(function)) for function in self.module.functions}
        dropped = {}
        for symbol in sorted(self.symbols):
            reached, ahead = set(), [symbol]
            while ahead:
                name = ahead.pop()
                if name not in reached:
                    reached.add(name)
                    ahead += calls.get(name, ())
            if missing := sorted((reached & absent) - outside):
                dropped[symbol] = missing
        self.symbols -= dropped.keys()
        self._keep(self.symbols | also)
        return dropped

    def _keep(self, symbols: set[str]) -> None:
        """Only ``symbols`` are visible outside the module; what they do not need is removed."""
        for each in [*self.module.functions, *self.module.global_variables]:
            if not each.is_declaration:
                each.linkage = "external" if each.name in symbols else "internal"
        steps = llvm.create_new_module_pass_manager()
        steps.add_global_dead_code_eliminate_pass()
        steps.run(self.module, llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(0)))

    def object_file(self) -> bytes:
        """The machine code."""
        self.module.verify()
        return target_machine().emit_object(self.module)  # type: ignore[no-any-return]


def target_machine() -> Any:
    """The CPU for which Numba translates; code that can be placed anywhere in memory."""
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=os.environ["NUMBA_CPU_NAME"], features="", opt=3, reloc="pic", codemodel="default"
    )


def operands(function: Any) -> Iterator[str]:
    """The names of all that the instructions of a function use."""
    for block in function.blocks:
        for instruction in block.instructions:
            for operand in instruction.operands:
                yield operand.name


def parse_types(text: str) -> Iterator[Any]:
    """The types of arguments; ``juryrank.kernels.library.represent`` describes how they are written."""
    words = iter(re.findall(r"\w*\(|\)|[^,()]+", text))
    return _parse(words)


def _parse(words: Iterator[str]) -> Iterator[Any]:
    for word in words:
        if word == ")":
            return
        if word.endswith("("):
            parts = tuple(_parse(words))
            yield types.NamedTuple(parts, getattr(lists, word[:-1])) if word != "(" else types.Tuple(parts)
        elif word == "g":
            yield numba.typeof(np.random.default_rng(0))
        elif word in SCALARS:
            yield SCALARS[word]
        else:
            element, layout = word.split(".")
            yield types.Array(numpy_support.from_dtype(np.dtype(element)), int(layout[:-1]), layout[-1])


class Numbers:
    """The numbers of a call, one after the other."""

    def __init__(self, builder: Any, start: Any) -> None:
        self.builder, self.start, self.position = builder, start, 0

    def place(self) -> Any:
        """The address of the next number."""
        self.position += 1
        return self.builder.gep(self.start, [ir.Constant(INT64, self.position - 1)])

    def next(self) -> Any:
        """The next number."""
        return self.builder.load(self.place())


def write_entry(compiled: Any, argument_types: tuple[Any, ...], symbol: str) -> tuple[Any, str]:
    """A function that reads the arguments of a kernel from an array of numbers, calls it, and writes its result."""
    context, description = compiled.target_context, compiled.fndesc
    module = ir.Module(symbol)
    module.triple, module.data_layout = llvm.get_default_triple(), str(compiled.library.codegen._data_layout)
    function = ir.Function(module, ir.FunctionType(INT32, [INT64.as_pointer()]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    numbers = Numbers(builder, function.args[0])
    values = [read(context, builder, each, numbers) for each in argument_types]
    callee = context.declare_function(module, description)
    status, value = context.call_conv.call_function(builder, callee, description.restype, description.argtypes, values)
    result = write(context, builder, description.restype, value, numbers)
    builder.ret(builder.zext(status.is_error, INT32))
    return module, result


def read(context: Any, builder: Any, kind: Any, numbers: Numbers) -> Any:
    """An argument, as Numba's functions take it."""
    if isinstance(kind, types.Array):
        return read_array(context, builder, kind, numbers)
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [read(context, builder, part, numbers) for part in kind])
    if isinstance(kind, types.NumPyRandomGeneratorType):
        generator = cgutils.create_struct_proxy(kind)(context, builder)
        bits = cgutils.create_struct_proxy(types.NumPyRandomBitGeneratorType("bit_generator"))(context, builder)
        for field in GENERATOR_FIELDS:
            setattr(bits, field, numbers.next())
        generator.bit_generator = bits._getvalue()
        return generator._getvalue()
    if kind is types.none:
        return context.get_dummy_value()
    value = numbers.next()
    if kind is types.boolean:
        return builder.icmp_unsigned("!=", value, ir.Constant(INT64, 0))
    return builder.bitcast(value, ir.DoubleType()) if kind is types.float64 else value


def read_array(context: Any, builder: Any, kind: Any, numbers: Numbers) -> Any:
    """An array from the address of NumPy's object: the fields of PyArrayObject, as extension modules read them."""
    fields = builder.inttoptr(numbers.next(), INT64.as_pointer())
    data, dimensions, strides = (builder.load(builder.gep(fields, [ir.Constant(INT64, i)])) for i in FIELDS)
    shape = list(read_numbers(builder, dimensions, kind.ndim))
    size = ir.Constant(INT64, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    steps = list(read_numbers(builder, strides, kind.ndim))
    if kind.layout == "C":
        steps, step = [], size
        for length in reversed(shape):
            steps.insert(0, step)
            step = builder.mul(step, length)
    array = context.make_array(kind)(context, builder)
    pointer = builder.inttoptr(data, array.data.type)
    arrayobj.populate_array(array, data=pointer, shape=shape, strides=steps, itemsize=size, meminfo=None)
    return array._getvalue()


def read_numbers(builder: Any, address: Any, count: int) -> Iterator[Any]:
    """The numbers at an address."""
    start = builder.inttoptr(address, INT64.as_pointer())
    for i in range(count):
        yield builder.load(builder.gep(start, [ir.Constant(INT64, i)]))


def write(context: Any, builder: Any, kind: Any, value: Any, numbers: Numbers) -> str:
    """Write a result, and return its type."""
    if kind is types.none:
        return "n"
    if isinstance(kind, types.BaseTuple):
        parts = [write(context, builder, part, builder.extract_value(value, i), numbers) for i, part in enumerate(kind)]
        return f"({','.join(parts)})"
    if isinstance(kind, types.Array) and kind.layout == "C":
        array = context.make_array(kind)(context, builder, value)
        for pointer in (array.meminfo, array.data):
            builder.store(builder.ptrtoint(pointer, INT64), numbers.place())
        for length in cgutils.unpack_tuple(builder, array.shape):
            builder.store(length, numbers.place())
        return f"{numpy_support.as_dtype(kind.dtype).str[1:]}.{kind.ndim}C"
    if kind is types.boolean:
        builder.store(builder.zext(value, INT64), numbers.place())
        return "b"
    if kind in (types.float64, types.int64):
        builder.store(builder.bitcast(value, INT64), numbers.place())
        return "f" if kind is types.float64 else "i"
    raise NotImplementedError(f"a result of type {kind}")
