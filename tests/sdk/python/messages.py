"""Chat, calls and voices."""

import urllib.parse

from .shape import FORM, Sdk, demand, mac, seconds


def slack_sign(order):
    from slack_sdk.signature import SignatureVerifier

    at = seconds()
    signature = SignatureVerifier(order["secret"]).generate_signature(timestamp=at, body=order.body)
    return [["X-Slack-Request-Timestamp", at], ["X-Slack-Signature", signature]]


def slack_verify(order):
    from slack_sdk.signature import SignatureVerifier

    demand(SignatureVerifier(order["secret"]).is_valid_request(order.body, order.named()), "is_valid_request")


class Form(dict):
    """A form as Flask and Django hand it over: each name with all its values."""

    getlist = dict.__getitem__


def twilio_form(order):
    form = order.text if order.header("content-type").startswith(FORM) else ""
    return Form(urllib.parse.parse_qs(form, keep_blank_values=True))


SETTINGS = "X-Twilio-Webhooks-Signature-Settings"


def twilio_sign(order):
    from twilio.request_validator import RequestValidator

    validator, url, extra, algorithm = RequestValidator(order["secret"]), order["url"], [], None
    if order.get("scheme") == "twilio-sharedkey":
        extra, algorithm = [[SETTINGS, "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256"]], "HMAC_SHA256"
    if order.get("scheme") == "twilio-json-bodysha256":
        url += f"{'&' if '?' in url else '?'}bodySHA256={validator.compute_hash(order.text)}"
        headers, params = [["Content-Type", "application/json"]], {}
    else:
        headers = [["Content-Type", FORM]]
        params = twilio_form(type(order)(order | {"headers": headers}))
    signature = validator.compute_signature(url, params, algorithm)
    return {"headers": headers + extra + [["X-Twilio-Signature", signature]], "url": url}


def twilio_verify(order):
    from twilio.request_validator import RequestValidator, get_signature_algorithm

    params = order.text if "bodySHA256=" in order["url"] else twilio_form(order)
    algorithm = get_signature_algorithm(order.header(SETTINGS.lower()))
    signature = order.header("x-twilio-signature")
    demand(RequestValidator(order["secret"]).validate(order["url"], params, signature, algorithm), "validate")


def elevenlabs_sign(order):
    at = seconds()
    return [["ElevenLabs-Signature", f"t={at},v0={mac(order['secret'], at, '.', order.body).hexdigest()}"]]


def elevenlabs_verify(order):
    from elevenlabs.client import ElevenLabs

    webhooks = ElevenLabs(api_key="hookmitt").webhooks
    webhooks.construct_event(order.text, order.header("elevenlabs-signature"), order["secret"])


SDKS = {
    "slack": Sdk("slack_sdk", slack_sign, slack_verify),
    "twilio": Sdk("twilio", twilio_sign, twilio_verify),
    "elevenlabs": Sdk("elevenlabs", elevenlabs_sign, elevenlabs_verify, "recipe accepted by construct_event"),
}
