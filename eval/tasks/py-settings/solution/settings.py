"""Settings: defaults, then what a file says."""

import json


class SettingsError(Exception):
    """What was given does not fit the defaults."""


DEFAULTS = {
    "server": {"host": "localhost", "port": 8080, "debug": False, "timeout": 2.5},
    "log": {"level": "info", "max_bytes": 1000000},
}


PREFIX = "APP_"
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def load(path=None, environ=None):
    """Returns the defaults with the values of the JSON file at path, and of the variables
    APP_SECTION_KEY of environ, over them."""
    settings = {name: dict(section) for name, section in DEFAULTS.items()}
    if path is not None:
        read_file(path, settings)
    for name, value in (environ or {}).items():
        if name.startswith(PREFIX):
            override(settings, name, value)
    return settings


def override(settings, name, value):
    section, _, key = name[len(PREFIX):].lower().partition("_")
    if key not in settings.get(section, {}):
        raise SettingsError(f"{name}: there is no such setting")
    try:
        settings[section][key] = convert(value, DEFAULTS[section][key])
    except (ValueError, KeyError):
        raise SettingsError(f"{name}: {value!r} is not a value for it") from None


def convert(value, default):
    if isinstance(default, bool):
        return BOOLEANS[value.lower()]
    return type(default)(value)


def read_file(path, settings):
    with open(path, encoding="utf-8") as f:
        given = json.load(f)
    for name, section in given.items():
        if name not in settings:
            raise SettingsError(f"there is no section {name}")
        for key, value in section.items():
            if key not in settings[name]:
                raise SettingsError(f"there is no setting {name}.{key}")
            settings[name][key] = value
