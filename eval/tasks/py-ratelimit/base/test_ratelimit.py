import unittest

from ratelimit import Bucket


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class BucketTest(unittest.TestCase):
    def test_burst(self):
        b = Bucket(2, 5, Clock())
        self.assertEqual([b.allow() for _ in range(6)], [True] * 5 + [False])

    def test_refill(self):
        clock = Clock()
        b = Bucket(2, 5, clock)
        b.allow(5)
        clock.now += 1
        self.assertEqual([b.allow() for _ in range(3)], [True, True, False])

    def test_refuses_nonsense(self):
        with self.assertRaises(ValueError):
            Bucket(0, 5)


if __name__ == "__main__":
    unittest.main()
