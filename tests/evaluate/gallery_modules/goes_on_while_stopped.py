# VERDICT crashed
# KIND timing
# WHY A timer of the kernel that would send SIGCONT is refused; to go on would be noticed, too.
import ctypes
import signal

import torch
import torch.nn as nn

libc = ctypes.CDLL(None)
timers = []


def go_on_by_itself() -> None:
    """SIGCONT to this process, every half millisecond, stopped or not."""
    if not timers:
        timers.append(ctypes.c_void_p())
        signal.signal(signal.SIGCONT, lambda *_: None)  # else newer kernels put the timer to sleep
        event = (ctypes.c_char * 64)()
        ctypes.c_int.from_buffer(event, 8).value = signal.SIGCONT
        assert libc.timer_create(1, event, ctypes.byref(timers[0])) == 0
    every = (ctypes.c_long * 4)(0, 500_000, 0, 500_000)
    assert libc.timer_settime(timers[0], 0, every, None) == 0  # in every call: a SIGSTOP that meets its signal ends it


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        go_on_by_itself()
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)
