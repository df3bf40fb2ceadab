"""A token bucket."""

import time


class Bucket:
    """Allows `rate` permits a second on average, and `burst` at once."""

    def __init__(self, rate, burst, clock=time.monotonic):
        if rate <= 0 or burst < 1:
            raise ValueError("rate must be above 0 and burst at least 1")
        self.rate = rate
        self.burst = burst
        self.clock = clock
        self.tokens = burst
        self.last = clock()

    def _refill(self):
        now = self.clock()
        self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
        self.last = now

    def allow(self, n=1):
        """Takes n permits and returns True, or takes none and returns False."""
        self._refill()
        if self.tokens < n:
            return False
        self.tokens -= n
        return True
