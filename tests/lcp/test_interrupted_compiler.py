"""Ctrl-C while a kernel is being compiled is raised behind the compiler, and the kernel is whole."""

import os
import signal

import pytest
from numba.extending import overload

from lcp.kernels import compiled as compilation


def interrupting(x):
    """Stands for a compiler that a signal meets: what is put in its place sends one."""
    return x


@overload(interrupting)
def _interrupting(x):
    os.kill(os.getpid(), signal.SIGINT)
    return lambda x: x


@pytest.mark.usefixtures("terminal")
def test_an_interrupt_waits_for_the_compiler_and_is_raised(monkeypatch):
    monkeypatch.setattr(compilation, "kept_in", lambda _: None)  # what was kept on disk would not be compiled again
    doubled = compilation.compiled(lambda x: 2 * interrupting(x))
    with pytest.raises(KeyboardInterrupt):
        doubled(1.5)
    assert doubled.signatures  # it was compiled to its end
    assert doubled(1.5) == 3.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
