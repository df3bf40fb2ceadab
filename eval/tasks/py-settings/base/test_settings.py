import json
import os
import tempfile
import unittest

import settings


class SettingsTest(unittest.TestCase):
    def write(self, content):
        f = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        self.addCleanup(os.remove, f.name)
        with f:
            json.dump(content, f)
        return f.name

    def test_defaults(self):
        self.assertEqual(settings.load()["server"]["port"], 8080)

    def test_file(self):
        got = settings.load(self.write({"server": {"port": 1}}))
        self.assertEqual((got["server"]["port"], got["server"]["host"]), (1, "localhost"))

    def test_unknown(self):
        with self.assertRaises(settings.SettingsError):
            settings.load(self.write({"server": {"colour": 1}}))
