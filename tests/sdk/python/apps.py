"""Files and customers."""

import datetime
import time

from .shape import Sdk, demand

# The versions sent if a test asks for none.
HUBSPOT = {"hubspot-v1": "v1", "hubspot-v2": "v2"}


def hubspot_sign(order):
    from hubspot.utils.signature import Signature

    version = HUBSPOT.get(order.get("scheme"), "v3")
    at = str(int(time.time() * 1000))
    signature = Signature.get_signature(order["secret"], order.text, version, order["url"], order["method"], at)
    if version == "v3":
        return [["X-HubSpot-Signature-v3", signature], ["X-HubSpot-Request-Timestamp", at]]
    return [["X-HubSpot-Signature", signature], ["X-HubSpot-Signature-Version", version]]


def hubspot_verify(order):
    from hubspot.utils.signature import Signature

    version, name = "v3", "x-hubspot-signature-v3"
    if not order.header(name):
        version, name = order.header("x-hubspot-signature-version"), "x-hubspot-signature"
    at = order.header("x-hubspot-request-timestamp") or None
    given = (order.header(name), order["secret"], order.text, order["url"], order["method"], version, at)
    demand(Signature.is_valid(*given), "Signature.is_valid")


def box_sign(order):
    from box_sdk_gen.internal.utils import compute_webhook_signature

    at = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    headers = {
        "box-delivery-id": "hookmitt",
        "box-delivery-timestamp": at,
        "box-signature-version": "1",
        "box-signature-algorithm": "HmacSHA256",
    }
    headers["box-signature-primary"] = compute_webhook_signature(order.text, headers, order["secret"])
    return [list(line) for line in headers.items()]


def box_verify(order):
    from box_sdk_gen.managers.webhooks import WebhooksManager

    demand(WebhooksManager.validate_message(order.text, order.named(), order["secret"]), "validate_message")


SDKS = {
    "hubspot": Sdk("hubspot-api-client", hubspot_sign, hubspot_verify),
    "box": Sdk("boxsdk", box_sign, box_verify),
}
