"""One thread at most, which does a job when it is woken and ends with it. It refuses to know what the job is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from wesaid.errors import WesaidError

Stopping = Callable[[], bool]  # asked by a job between two steps: whether it has to end


class Background:
    """A job in the background. What it cannot do now, the next one who wakes it will try again: our own errors end it in silence."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def wake(self, job: Callable[[Stopping], object]) -> None:
        """Start the job, unless one is at work."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stop = threading.Event()
            self._thread = threading.Thread(target=_done, args=(job, self._stop.is_set), name="wesaid-background", daemon=True)
            self._thread.start()

    def pause(self, seconds: float) -> None:
        """For the job: wait so long, or until it has to end."""
        self._stop.wait(seconds)

    def stop(self) -> None:
        """End the job at its next step, and wait for that."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _done(job: Callable[[Stopping], object], stopping: Stopping) -> None:
    with suppress(WesaidError):
        job(stopping)
