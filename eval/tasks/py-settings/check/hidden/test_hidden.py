import json
import os
import tempfile
import unittest

import settings


class HiddenTest(unittest.TestCase):
    def load(self, **environ):
        return settings.load(environ=environ)

    def test_types(self):
        got = self.load(APP_SERVER_PORT="9000", APP_SERVER_TIMEOUT="0.25", APP_SERVER_DEBUG="Yes", APP_SERVER_HOST="0", PATH="/bin")
        self.assertEqual(got["server"], {"host": "0", "port": 9000, "debug": True, "timeout": 0.25})
        self.assertIs(type(got["server"]["port"]), int)

    def test_booleans(self):
        for word, want in {"true": True, "FALSE": False, "no": False, "1": True, "0": False}.items():
            self.assertIs(self.load(APP_SERVER_DEBUG=word)["server"]["debug"], want)

    def test_underscores(self):
        self.assertEqual(self.load(APP_LOG_MAX_BYTES="5")["log"]["max_bytes"], 5)

    def test_refused(self):
        for name, value in [("APP_SERVER_COLOUR", "1"), ("APP_NOWHERE_PORT", "1"), ("APP_SERVER_PORT", "many"), ("APP_SERVER_DEBUG", "perhaps"), ("APP_SERVER", "1")]:
            with self.assertRaises(settings.SettingsError, msg=name) as caught:
                self.load(**{name: value})
            self.assertIn(name, str(caught.exception))

    def test_over_the_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "s.json")
            with open(path, "w") as f:
                json.dump({"server": {"port": 1}}, f)
            self.assertEqual(settings.load(path, environ={"APP_SERVER_PORT": "2"})["server"]["port"], 2)

    def test_defaults_stay(self):
        self.load(APP_SERVER_PORT="9")
        self.assertEqual(settings.load()["server"]["port"], 8080)
