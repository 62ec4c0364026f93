"""Claims about work in the background: one job at a time, ended when asked, and a failure of ours is not the program's."""

from __future__ import annotations

import threading

from wesaid.errors import StoreError
from wesaid.service.background import Background


def test_a_job_runs_once_however_often_it_is_woken_and_again_when_it_has_ended():
    """Waking a job that is at work starts no second one."""
    background, begun, may_end = Background(), threading.Semaphore(0), threading.Event()

    def job(_stopping):
        begun.release()
        may_end.wait()

    background.wake(job)
    begun.acquire()
    background.wake(job)
    assert not begun.acquire(blocking=False)
    may_end.set()
    background.stop()
    background.wake(job)
    begun.acquire()
    background.stop()


def test_stopping_ends_a_job_at_its_next_step_and_waits_for_that():
    """After `stop` nothing of it runs any more."""
    background, begun, steps = Background(), threading.Event(), []

    def job(stopping):
        while not stopping():
            steps.append(1)
            begun.set()

    background.wake(job)
    begun.wait()
    background.stop()
    count = len(steps)
    assert count > 0
    assert len(steps) == count
    background.stop()  # nothing to stop: nothing happens


def test_what_cannot_be_done_now_is_left_for_the_next_time():
    """A store that fails ends the job and nothing else."""
    background, ran = Background(), []

    def failing(_stopping):
        ran.append(1)
        raise StoreError("no")

    for _ in range(2):
        background.wake(failing)
        background.stop()
    assert ran == [1, 1]
