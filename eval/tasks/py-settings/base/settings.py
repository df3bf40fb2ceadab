"""Settings: defaults, then what a file says."""

import json


class SettingsError(Exception):
    """What was given does not fit the defaults."""


DEFAULTS = {
    "server": {"host": "localhost", "port": 8080, "debug": False, "timeout": 2.5},
    "log": {"level": "info", "max_bytes": 1000000},
}


def load(path=None):
    """Returns the defaults with the values of the JSON file at path over them."""
    settings = {name: dict(section) for name, section in DEFAULTS.items()}
    if path is None:
        return settings
    with open(path, encoding="utf-8") as f:
        given = json.load(f)
    for name, section in given.items():
        if name not in settings:
            raise SettingsError(f"there is no section {name}")
        for key, value in section.items():
            if key not in settings[name]:
                raise SettingsError(f"there is no setting {name}.{key}")
            settings[name][key] = value
    return settings
