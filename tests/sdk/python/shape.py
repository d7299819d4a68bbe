"""What the SDKs' entries share. `sign` says what the provider would send for an order (header lines, or a dict with
body and url too); `verify` raises where the SDK refuses. SDKs are imported when they are needed: together they take
seconds."""

import hmac
import importlib.metadata
import time
from dataclasses import dataclass
from typing import Any, Callable

FORM = "application/x-www-form-urlencoded"


@dataclass
class Sdk:
    """An SDK; `signed_by` says by which recipe it was signed where the SDK can't sign."""

    package: str
    sign: Callable[[Any], Any]
    verify: Callable[[Any], Any]
    signed_by: str = ""

    def version(self):
        return f"{self.package}@{importlib.metadata.version(self.package)}"


def demand(valid, what):
    if not valid:
        raise ValueError(f"{what} says no")


def mac(key, *parts):
    """HMAC-SHA256 over the parts one after another."""
    return hmac.new(key.encode(), b"".join(p.encode() if isinstance(p, str) else p for p in parts), "sha256")


def seconds():
    return str(int(time.time()))
