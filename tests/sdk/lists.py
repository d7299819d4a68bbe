"""Lists with a provider's own SDK what its API at another address has sent, and prints the ids.

Arguments: the SDK, the API's URL, the key, and what else there is to know, as JSON.
"""

import json
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python_modules"))

SDK, BASE, KEY, KNOWN = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])


def square():
    from square import Square

    client, found, cursor = Square(token=KEY, base_url=BASE), [], None
    while True:
        page = client.events.search_events(limit=100, **({"cursor": cursor} if cursor else {}))
        found += [event.event_id for event in page.events]
        cursor = page.cursor
        if not cursor:
            return "squareup", found


def paypal():
    import paypalrestsdk

    client_id, secret = KEY.split(":")
    api = paypalrestsdk.Api(
        {"mode": "live", "client_id": client_id, "client_secret": secret, "endpoint": BASE}
    )
    found, path = [], "v1/notifications/webhooks-events?page_size=100"
    while path:
        page = api.get(path)
        found += [paypalrestsdk.WebhookEvent(event, api=api).id for event in page["events"]]
        path = next((link["href"].removeprefix(BASE + "/") for link in page["links"] if link["rel"] == "next"), None)
    return "paypalrestsdk", found


def hubspot():
    import hubspot as sdk
    from hubspot.crm.contacts import PublicObjectSearchRequest

    client = sdk.Client.create(access_token=KEY)
    api = client.crm.contacts.search_api
    api.api_client.configuration.host = BASE
    found, after = [], None
    filters = [
        {"propertyName": "createdate", "operator": "GTE", "value": "0"},
        {"propertyName": "createdate", "operator": "LT", "value": "9999999999000"},
    ]
    while True:
        asked = PublicObjectSearchRequest(filter_groups=[{"filters": filters}], limit=200, **({"after": after} if after else {}))
        page = api.do_search(public_object_search_request=asked)
        found += [contact.id for contact in page.results]
        after = page.paging.next.after if page.paging else None
        if not after:
            return "hubspot-api-client", found


def twilio():
    from twilio.rest import Client

    sid, secret = KEY.split(":")
    client = Client(sid, secret)
    client.monitor.base_url = BASE
    alerts = [alert for alert in client.monitor.v1.alerts.stream() if alert.error_code.startswith("11")]
    return "twilio", [alert.sid for alert in alerts]


def polar():
    from polar.v2026_10.client import Polar

    client, found, number = Polar(KEY, base_url=BASE), [], 1
    while True:
        page = client.webhooks.list_webhook_deliveries(endpoint_id=KNOWN["endpoint"], page=number, limit=100)
        found += [delivery.webhook_event.id for delivery in page.items]
        if number >= page.pagination.max_page:
            return "polar-sdk", found
        number += 1


PACKAGE, IDS = {"polar": polar, "square": square, "paypal": paypal, "hubspot": hubspot, "twilio": twilio}[SDK]()
print(json.dumps({"sdk": f"{PACKAGE}@{metadata.version(PACKAGE)}", "ids": IDS}))
