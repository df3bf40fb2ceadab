import unittest

from ratelimit import Bucket


class HiddenTest(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.bucket = Bucket(2, 5, lambda: self.now)

    def test_fractions_add_up(self):
        self.assertTrue(self.bucket.allow(5))
        allowed = 0
        for _ in range(100):
            self.now += 0.3
            allowed += self.bucket.allow()
        self.assertIn(allowed, (59, 60))

    def test_never_above_burst(self):
        self.now += 60
        self.assertEqual(sum(self.bucket.allow() for _ in range(100)), 5)

    def test_refused_takes_none(self):
        self.assertTrue(self.bucket.allow(4))
        self.assertFalse(self.bucket.allow(2))
        self.assertTrue(self.bucket.allow())

    def test_large_request_is_never_allowed(self):
        self.now += 1000
        self.assertFalse(self.bucket.allow(6))
