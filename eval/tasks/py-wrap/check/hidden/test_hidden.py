import unittest

from wrap import wrap


class HiddenTest(unittest.TestCase):
    def test_quotes_stay(self):
        text = "one two three\n> a quoted line that is long\n>> deeper\n> > and this\nfour five six"
        self.assertEqual(wrap(text, 9), "one two\nthree\n> a quoted line that is long\n>> deeper\n> > and this\nfour five\nsix")

    def test_items(self):
        text = "Buy:\n- red apples and pears\n* bread"
        self.assertEqual(wrap(text, 12), "Buy:\n- red apples\n  and pears\n* bread")

    def test_item_goes_on(self):
        self.assertEqual(wrap("- red apples\n  and pears", 12), "- red apples\n  and pears")

    def test_long_words(self):
        self.assertEqual(wrap("see https://example.org/x ok", 10), "see\nhttps://example.org/x\nok")
        self.assertEqual(wrap("- https://example.org/x ok", 10), "- https://example.org/x\n  ok")

    def test_paragraphs(self):
        self.assertEqual(wrap("one two three\nfour\n\nfive", 9), "one two\nthree\nfour\n\nfive")
