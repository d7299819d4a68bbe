"""The Python peer: signs and verifies with the providers' own SDKs, in the protocol of peer.mjs, at the present time."""

import base64
import contextlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python_modules"))

from python import SDKS  # noqa: E402 (they need the path)

OUTPUT = sys.stdout


class Order(dict):
    """What is asked, with the defaults of what an SDK may want to know."""

    def __init__(self, fields):
        super().__init__({"method": "POST", "url": "http://localhost/", "headers": [], "params": {}} | fields)
        self.body = base64.b64decode(fields.get("body_base64", ""))

    @property
    def text(self):
        return self.body.decode()

    def header(self, name):
        found = [value for known, value in self["headers"] if known.lower() == name]
        return found[0] if found else ""

    def named(self):
        return {name.lower(): value for name, value in self["headers"]}


def sign(order):
    sdk = SDKS[order["sdk"]]
    made = sdk.sign(order)
    request = made if isinstance(made, dict) else {"headers": made}
    body = request.pop("body", None)
    if body is not None:
        request["body_base64"] = base64.b64encode(body.encode()).decode()
    # A recipe counts only if the SDK's verifier accepts its result.
    if sdk.signed_by:
        sdk.verify(Order(order | request))
    return request | {"signed_by": sdk.signed_by or sdk.version()}


def verify(order):
    try:
        SDKS[order["sdk"]].verify(order)
    except Exception as error:  # each SDK has its own kind
        return {"verified": False, "error": f"{type(error).__name__}: {error}"}
    return {"verified": True}


def answer(order):
    match order["op"]:
        case "versions":
            return {"versions": {name: sdk.version() for name, sdk in SDKS.items()}}
        case "sign":
            return sign(order)
        case "verify":
            return verify(order)
    raise ValueError(f"unknown op {order['op']}")


def main():
    for line in sys.stdin:
        order = Order(json.loads(line))
        try:
            # Our output is the protocol, so what the SDKs print is discarded.
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                reply = {"ok": True} | answer(order)
        except Exception as error:
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"id": order["id"]} | reply), file=OUTPUT, flush=True)


main()
