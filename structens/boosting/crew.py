"""Threads that do the same work side by side, round after round, the caller's thread among them."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class Crew:
    """The caller's thread and others, which sleep between rounds.

    Parameters
    ----------
    size : int
        Threads in all.
    work : function
        Called with the number of the thread, 0 for the caller's. All calls of a round must end together: the caller's
        does not return before the others have finished what the next round may see.

    Examples
    --------
    >>> from threading import Barrier
    >>> done, barrier = [], Barrier(2)
    >>> def work(number):
    ...     done.append(number)
    ...     barrier.wait()
    >>> crew = Crew(2, work)
    >>> crew.play()
    >>> crew.close()
    >>> sorted(done)
    [0, 1]
    """

    def __init__(self, size: int, work: Callable[[int], None]) -> None:
        self._work = work
        self._orders: list[SimpleQueue[bool]] = [SimpleQueue() for _ in range(size - 1)]
        self._threads = [
            Thread(target=_obey, args=(orders, work, number), daemon=True)
            for number, orders in enumerate(self._orders, start=1)
        ]
        for thread in self._threads:
            thread.start()

    def play(self, begun: Callable[[], bool] = lambda: True) -> None:
        """One round.

        Parameters
        ----------
        begun : function
            Whether the caller's part has been done. If an interrupt came before, it is done first, and the interrupt
            goes on afterwards: the others would wait for ever.
        """
        for orders in self._orders:
            orders.put(True)
        try:
            self._work(0)
        except BaseException:
            if not begun():
                self._work(0)
            raise

    def close(self) -> None:
        """Let the threads go."""
        for orders in self._orders:
            orders.put(False)
        for thread in self._threads:
            thread.join()
        self._orders, self._threads = [], []


def _obey(orders: SimpleQueue[bool], work: Callable[[int], None], number: int) -> None:
    while orders.get():
        work(number)
