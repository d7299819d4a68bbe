"""The providers' own Python SDKs behind one shape (see shape.py)."""

from . import apps, messages, money, standard

SDKS = apps.SDKS | messages.SDKS | money.SDKS | standard.SDKS
