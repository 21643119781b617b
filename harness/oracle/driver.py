# Calls the function `oracle` of a script, case after case, for `op-harness check --oracle` (script_process.h).
# Usage: python3 -c TEXT SCRIPT
# A message is two lengths of 8 bytes, a JSON object and the elements of its arrays, one after the other.
import sys

if sys.path[:1] == [""]:
    del sys.path[0]  # or a script called types.py would take the place of a module of Python

import inspect
import json
import math
import os
import signal
import struct
import traceback
import types

script = sys.argv[1]
for name in (signal.SIGINT, signal.SIGHUP):
    signal.signal(name, signal.SIG_IGN)  # the harness ends this process
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what the script prints goes to stderr, not between the messages


def send(header, payload=b""):
    text = json.dumps(header).encode()
    sink.write(struct.pack("<QQ", len(text), len(payload)) + text + payload)
    sink.flush()


def receive():
    lengths = source.read(16)
    if len(lengths) < 16:
        os._exit(0)
    text, payload = struct.unpack("<QQ", lengths)
    return json.loads(source.read(text)), source.read(payload)


def message(error):
    """"softmax.py:12: ValueError: the last line of the exception"."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == script]
    if isinstance(error, SyntaxError) and error.filename == script:
        lines.append(error.lineno)
    place = f"{script}:{lines[-1]}" if lines else script
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return f"{place}: {text.splitlines()[-1]}"


def load():
    """The function and whether it takes the description of the case."""
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    module = types.ModuleType("opkit_oracle")
    module.__file__ = script
    sys.modules[module.__name__] = module
    sys.path.append(os.path.dirname(os.path.abspath(script)))
    exec(code, module.__dict__)
    function = getattr(module, "oracle", None)
    if not callable(function):
        raise LookupError("there is no function oracle(inputs, attributes)")
    try:
        inspect.signature(function).bind(None, None, None)
        return function, True
    except TypeError:
        pass
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        raise LookupError("oracle takes neither (inputs, attributes) nor (inputs, attributes, case)") from None
    return function, False


def inputs_of(header, payload):
    inputs, offset = [], 0
    for entry in header["inputs"]:
        if entry is None:
            inputs.append(None)
            continue
        kind, count = numpy.dtype(entry["dtype"]), math.prod(entry["shape"])
        flat = numpy.frombuffer(payload, kind, count, offset) if count else numpy.zeros(0, kind)
        inputs.append(flat.reshape(entry["shape"]).copy())
        offset += count * kind.itemsize
    return inputs


def answer(header, payload):
    arguments = [inputs_of(header, payload), header["attributes"]]
    result = oracle(*arguments, header["case"]) if takes_case else oracle(*arguments)
    arrays = [numpy.asarray(each) for each in (result if isinstance(result, (list, tuple)) else [result])]
    wide = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "<i8"}
    outputs = [{"dtype": each.dtype.name, "shape": each.shape} for each in arrays]
    parts = [each.astype(wide[each.dtype.kind]).tobytes() for each in arrays if each.dtype.kind in wide]
    return {"outputs": outputs}, b"".join(parts)


try:
    import numpy
except ImportError:
    send({"missing": "NumPy"})
    os._exit(0)
numpy.seterr(all="ignore")  # infinities and NaN are values of cases
try:
    oracle, takes_case = load()
except LookupError as error:
    send({"error": f"{script}: {error.args[0]}"})
    os._exit(0)
except BaseException as error:
    send({"error": message(error)})
    os._exit(0)
send({"numpy": numpy.__version__})
while True:
    case = receive()
    try:
        reply = answer(*case)
    except BaseException as error:
        reply = ({"error": message(error)}, b"")
    send(*reply)
