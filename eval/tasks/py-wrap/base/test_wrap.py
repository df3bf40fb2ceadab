import unittest

from wrap import wrap


class WrapTest(unittest.TestCase):
    def test_paragraphs(self):
        self.assertEqual(wrap("one two three\nfour\n\nfive", 9), "one two\nthree\nfour\n\nfive")
