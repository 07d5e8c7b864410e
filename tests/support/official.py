# SPDX-License-Identifier: Apache-2.0
"""A delegate in the official runtime, against that runtime's own CPU kernels. In: a table of models, with the options of
the delegate, the largest difference, and what the number of nodes that the delegate makes must be. Out: a line per model,
and an exit code: 1 where results differ, too few nodes were taken or an unknown option was, 77 where there is no model or
no device."""
import os

import numpy
from ai_edge_litert import interpreter


def random_input(details, generator):
    kind = details["dtype"]
    if numpy.issubdtype(kind, numpy.floating):
        return generator.standard_normal(details["shape"]).astype(kind)
    if kind == numpy.bool_:
        return generator.integers(0, 2, details["shape"]).astype(kind)
    limits = numpy.iinfo(kind)
    return generator.integers(limits.min, limits.max, details["shape"], endpoint=True).astype(kind)


def run(path, delegates, node_name, batch=None):
    """Outputs of two runs with different inputs, and how many nodes of this name delegates made. batch: of the first
    input, from when the delegates have been applied."""
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    session = interpreter.Interpreter(
        model_path=path, experimental_delegates=delegates, experimental_op_resolver_type=resolver
    )
    session.allocate_tensors()
    if batch:
        first = session.get_input_details()[0]
        session.resize_tensor_input(first["index"], [batch, *first["shape"][1:]])
        session.allocate_tensors()
    outputs = []
    for seed in (1, 2):
        generator = numpy.random.default_rng(seed)
        for details in session.get_input_details():
            session.set_tensor(details["index"], random_input(details, generator))
        session.invoke()
        outputs += [session.get_tensor(details["index"]) for details in session.get_output_details()]
    names = [node["op_name"] for node in session._get_ops_details()]
    return outputs, sum(name in ("DELEGATE", node_name) for name in names)


def difference(want, have):
    """In parts of the largest output for floats, in steps for integers."""
    most = numpy.abs(want.astype(numpy.float64) - have.astype(numpy.float64)).max()
    if not numpy.issubdtype(want.dtype, numpy.floating):
        return most
    return most / max(numpy.abs(want).max(), 1e-6)


def largest_difference(want, have):
    return max(difference(a, b) for a, b in zip(want, have))


def check_unknown_option(library):
    try:
        interpreter.load_delegate(library, {"no_such_option": "1"})
    except ValueError as error:
        print(f"unknown option: {error}")
        return "no_such_option" in str(error)
    print("an unknown option was taken")
    return False


def check(library, models, cases, node_name, has_enough, no_device=()):
    """has_enough(nodes, number of the case): whether the delegate made enough. no_device: what errors say where there is
    none. Returns the exit code."""
    failed = False
    done = 0
    for name, options, limit, number in cases:
        path = os.path.join(models, name)
        if not os.path.exists(path):
            print(f"{name}: not there")
            continue
        want, _ = run(path, [], node_name)
        delegate = interpreter.load_delegate(library, options)
        try:
            have, nodes = run(path, [delegate], node_name)
        except RuntimeError as error:
            if any(text in str(error) for text in no_device):
                print(f"skipped: {error}")
                return 77
            raise
        most = largest_difference(want, have)
        good = has_enough(nodes, number) and most <= limit
        failed = failed or not good
        done += 1
        print(f"{name} {options}: {nodes} kernels, difference {most:.3g} of {limit:g}{'' if good else '  <- wrong'}")
    failed = not check_unknown_option(library) or failed
    if done == 0:
        print("skipped: no model is there")
        return 77
    return 1 if failed else 0
