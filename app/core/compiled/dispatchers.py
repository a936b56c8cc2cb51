"""Dispatchers of numba, with the one signature that the annotations of a loop declare.

The first call loads the loop from the cache, or compiles and stores it. Arguments of other types are rejected, unless
they convert without loss, as an int32 does to an int64.

Records: the named tuples that loops declare, passed on without counting references.

numba counts the references to each array of a named tuple wherever it is passed on, which is code for dozens of arrays
in every function. Whoever calls holds the tuple until the call returns, so that a parameter needs no references of its
own. An array that is read from a record is counted as any other.
"""

import functools
import itertools
import pickle
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite.binding import parse_assembly
from numba.core import event, serialize, types, typing
from numba.core.boxing import unbox_tuple
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_cast
from numba.core.pythonapi import NativeValue, unbox
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typeconv import Conversion
from numba.core.typing.typeof import Purpose, typeof
from numba.np.ufunc import array_exprs

from app.core.compiled import entries
from app.core.compiled.arrays import Layout


class Record(types.NamedTuple):  # type: ignore[misc] # numba has no types
    """The type of a parameter that is a named tuple."""

    def __init__(self, fields: Any, declared: type) -> None:
        super().__init__(fields, declared)
        self.name: str = f"Record{self.name}"  # symbols have it

    @property
    def counted(self) -> types.NamedTuple:
        """The same as a value, which holds its arrays."""
        return types.NamedTuple(self.types, self.instance_class)

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:  # noqa: ARG002 — numba calls it
        """A value becomes a parameter."""
        return Conversion.safe if other == self.counted else None


def returns_record(returned: Any) -> bool:
    """Whether a result would have arrays that nothing holds."""
    parts = returned.types if isinstance(returned, types.BaseTuple) else ()
    return isinstance(returned, Record) or any(map(returns_record, parts))


@register_default(Record)
class _RecordModel(models.TupleModel):  # type: ignore[misc] # numba has no types
    """The model of a tuple without reference counts."""

    def traverse(self, builder: Any) -> list[Any]:  # noqa: ARG002 — numba calls it
        return []


@lower_cast(types.NamedTuple, Record)  # type: ignore[untyped-decorator] # numba has no types
def _pass_on(_context: Any, _builder: Any, _given: Any, _declared: Any, value: Any) -> Any:
    return value


@unbox(Record)  # type: ignore[untyped-decorator] # numba has no types
def _unbox(record: Record, given: Any, c: Any) -> Any:
    """Hold the arrays of Python's tuple until the call returns."""
    native = unbox_tuple(record.counted, given, c)

    def release() -> None:
        if native.cleanup is not None:
            native.cleanup()
        c.context.nrt.decref(c.builder, record.counted, native.value)

    return NativeValue(native.value, cleanup=release, is_error=native.is_error)


# numba names an expression over whole arrays by the hash of an object, which is its address: no two compilations of a
# loop that has one would be the same bytes.
_expressions = itertools.count()
vars(array_exprs)["hash"] = lambda _: next(_expressions)

# Divisors are counts and widths, never 0: the test for it costs a tenth of the time to compile.
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_SCALARS = {
    bool: types.boolean,
    int: types.int64,
    float: types.float64,
    np.uint32: types.uint32,
    np.uint64: types.uint64,
}


class _Declared(CPUDispatcher):  # type: ignore[misc] # numba has no types
    """A dispatcher of numba with one signature, its annotations."""

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        super().__init__(function, targetoptions={**_OPTIONS, **options})
        self.name = f"{function.__module__}.{function.__qualname__}"

    @functools.cached_property
    def declared(self) -> tuple[Any, ...]:
        """The types of the arguments."""
        hints = get_type_hints(self.py_func, include_extras=True)
        return tuple(_type_of(hints[name]) for name in self._compiler.pysig.parameters)

    def prepare(self) -> Any:
        """Load the loop or compile it unless that is done; its entry point.

        Raises
        ------
        TypeError : it returns a record that it was given, whose arrays its caller need not hold any longer.
        """
        if self.declared not in self.overloads:
            self.compile(self.declared)
            if returns_record(self.overloads[self.declared].signature.return_type):
                raise TypeError(f"{self.name} returns a record that it was given")
        return self.overloads[self.declared].entry_point


class LinkedDispatcher(_Declared):
    """Dispatcher of a subroutine: LLVM's intermediate code, linked into the loops that call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, no_cpython_wrapper=True)
        self._compiler._customize_flags = _without_machine_code  # noqa: SLF001 — a hook of numba's

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, ...]:
        """Type a call in a loop: numba converts the arguments to the declared types."""
        self.prepare()
        signature, arguments = self._compiler.fold_argument_types(args, kws)
        template = typing.make_concrete_template(self.name, key=self.name, signatures=self.nopython_signatures)
        return template, signature, arguments, {}

    @global_compiler_lock  # type: ignore[untyped-decorator] # numba has no types
    def compile(self, signature: Any) -> Any:
        """Compile to LLVM's intermediate code."""
        data = {"dispatcher": self, "args": signature, "return_type": None}
        with self._compiling_counter, event.trigger_event("numba:compile", data=data):
            result = self._compiler.compile(signature, None)
        # A loop's library takes this one's code and optimises the whole. numba would also optimise it here, with all
        # that it calls, once for each level of calls, and make machine code of it, for callers in Python.
        library = result.library
        library._optimize_final_module = lambda: None  # noqa: SLF001 — no other hook
        library._finalize_final_module = functools.partial(setattr, library, "_finalized", True)  # noqa: SLF001 — no other hook
        key = object()  # numba looks up callees by this; usually it is the entry for Python
        self.targetctx.insert_user_function(key, result.fndesc, [library])
        self.overloads[signature] = result._replace(entry_point=key)
        return key

    def _compile_for_args(self, *_args: Any, **_: Any) -> Any:
        """Numba calls this when Python calls."""
        return self.py_func


class StoredDispatcher(_Declared):
    """Dispatcher of a loop: stored machine code, which Python calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache = _Entry(self.name)

    def compile(self, signature: Any) -> Any:
        """Load or compile the loop, and all that it calls."""
        entry_point = super().compile(signature)
        result = self.overloads[signature]
        for environment in result._find_referenced_environments():  # noqa: SLF001 — includes its subroutines'
            self.targetctx.codegen().set_env(environment.env_name, environment)
        return entry_point

    def _compile_for_args(self, *args: Any, **_: Any) -> Any:
        """Numba calls this for types that it has not seen: accept them if they convert without loss."""
        entry_point = self.prepare()
        actual = [typeof(argument, Purpose.argument) for argument in args]
        for number, (given, declared) in enumerate(zip(actual, self.declared, strict=True)):
            conversion = self.typingctx.can_convert(given, declared)
            # To numba a Python int is an int64 up to 2⁶³; a negative one is rejected when it is read.
            is_int = (given, declared) == (types.int64, types.uint64)
            if not is_int and (conversion is None or conversion > Conversion.safe):
                raise TypeError(f"{self.name}: argument {number} is {given}; declared is {declared}")
        if tuple(actual) != self.declared:
            self._insert([given._code for given in actual], entry_point, False)  # noqa: SLF001 — no public way
        return entry_point


def _without_machine_code(flags: Any) -> Any:
    flags.no_compile = True
    return flags


class _Entry:
    """The cache of a loop, as numba's dispatcher calls it."""

    def __init__(self, loop: str) -> None:
        self._loop = loop
        self.cache_path = None  # numba's statistics have one for each function; an entry may be in any of ours

    def load_overload(self, signature: Any, target: Any) -> Any:  # noqa: ARG002 — there is one signature
        """The stored result of compiling the loop, ready to run; or None."""
        content = entries.read(self._loop)
        if content is None:
            return None
        # numba's own cache calls `target.refresh()`, which imports all that could be compiled, in five times the time.
        rtsys.initialize(target)
        processor, reduced = pickle.loads(content)  # noqa: S301 — only root and this account may have written it
        if processor != target.codegen().magic_tuple():
            return None
        return CompileResult._rebuild(target, *reduced)  # noqa: SLF001 — as numba's cache does

    def save_overload(self, signature: Any, result: Any) -> None:  # noqa: ARG002 — there is one signature
        """Store the result of compiling the loop, if some folder can be written."""
        if result.library.has_dynamic_globals:
            return  # its code has addresses of this process
        processor = result.target_context.codegen().magic_tuple()
        # Only `inspect_types` prints the annotation, which has addresses: no two compilations would be the same bytes.
        library, *rest = result._replace(type_annotation="")._reduce()  # noqa: SLF001 — as its own
        # numba stores intermediate code beside the machine code, for other functions to link. No loop does (`Loop`),
        # and to read it took three quarters of the time to load a loop, and most of the memory. The symbol of the entry
        # for Python is looked up there.
        name, kind, (machine_code, _) = library
        entry = f'@"{result.fndesc.llvm_cpython_wrapper_name}" = global i8 0'
        library = name, kind, (machine_code, parse_assembly(entry).as_bitcode())
        entries.write(self._loop, serialize.dumps((processor, (library, *rest))))


def _type_of(annotation: Any) -> Any:
    """The type of numba that an annotation declares."""
    if get_origin(annotation) is Annotated:
        layout = next(part for part in get_args(annotation) if isinstance(part, Layout))
        order = "A" if layout.is_strided else "C"
        return types.Array(getattr(types, layout.dtype), layout.dimensions, order, readonly=layout.is_read_only)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if get_origin(annotation) is tuple:
        parts = [_type_of(part) for part in get_args(annotation)]
        return types.UniTuple(parts[0], len(parts)) if len(set(parts)) == 1 else types.Tuple(parts)
    if isinstance(annotation, type) and hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        fields = [_type_of(hints[field]) for field in annotation._fields]
        same = len(set(fields)) == 1
        return types.NamedUniTuple(fields[0], len(fields), annotation) if same else Record(fields, annotation)
    raise TypeError(f"{annotation} is no type that a loop can declare")
