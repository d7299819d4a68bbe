"""Payments."""

import base64
import datetime
import json
import urllib.parse
import uuid
import zlib

from . import keys
from .shape import FORM, Sdk, demand, mac, seconds


def stripe_sign(order):
    at = seconds()
    return [["Stripe-Signature", f"t={at},v1={mac(order['secret'], at, '.', order.body).hexdigest()}"]]


def stripe_verify(order):
    import stripe

    stripe.WebhookSignature.verify_header(order.text, order.header("stripe-signature"), order["secret"], 300)


def adyen_sign(order):
    from Adyen.util import generate_notification_sig, generate_payload_sig

    if order.get("scheme") == "adyen-header":
        signature = generate_payload_sig(order.body, order["secret"]).decode()
        return [["HmacSignature", signature], ["Protocol", "HmacSHA256"]]
    notice = json.loads(order.body)
    for item in notice["notificationItems"]:
        item = item["NotificationRequestItem"]
        signature = generate_notification_sig(item, order["secret"]).decode()
        item.setdefault("additionalData", {})["hmacSignature"] = signature
    return {"headers": [["Content-Type", "application/json"]], "body": json.dumps(notice)}


def adyen_verify(order):
    from Adyen.util import is_valid_hmac_notification, is_valid_hmac_payload

    if signature := order.header("hmacsignature"):
        demand(is_valid_hmac_payload(signature, order["secret"], order.body), "is_valid_hmac_payload")
        return
    # The helper looks only at the first item, so each item is checked by itself.
    for item in json.loads(order.body)["notificationItems"]:
        valid = is_valid_hmac_notification({"notificationItems": [item]}, order["secret"])
        demand(valid, "is_valid_hmac_notification")


def square_sign(order):
    signature = mac(order["secret"], order["url"], order.body).digest()
    return [["x-square-hmacsha256-signature", base64.b64encode(signature).decode()]]


def square_verify(order):
    from square.utils.webhooks_helper import verify_signature

    signature = order.header("x-square-hmacsha256-signature")
    demand(
        verify_signature(
            request_body=order.text,
            signature_header=signature,
            signature_key=order["secret"],
            notification_url=order["url"],
        ),
        "verify_signature",
    )


def razorpay_sign(order):
    return [["X-Razorpay-Signature", mac(order["secret"], order.body).hexdigest()]]


def razorpay_verify(order):
    import razorpay

    utility = razorpay.Client(auth=("hookmitt", "hookmitt")).utility
    utility.verify_webhook_signature(order.text, order.header("x-razorpay-signature"), order["secret"])


def braintree_gateway(order):
    import braintree

    return braintree.BraintreeGateway(
        braintree.Configuration(
            braintree.Environment.Sandbox, "hookmitt", order["params"]["public_key_id"], order["secret"]
        )
    )


def braintree_sign(order):
    form = braintree_gateway(order).webhook_testing.sample_notification("check", "hookmitt")
    return {"headers": [["Content-Type", FORM]], "body": urllib.parse.urlencode(form)}


def braintree_verify(order):
    form = dict(urllib.parse.parse_qsl(order.text))
    braintree_gateway(order).webhook_notification.parse(form["bt_signature"], form["bt_payload"])


def paypal_sign(order):
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding

    message, at = str(uuid.uuid4()), datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    signed = f"{message}|{at}|{order['params']['webhook_id']}|{zlib.crc32(order.body)}"
    key = serialization.load_pem_private_key(order["private_key"].encode(), None)
    signature = base64.b64encode(key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())).decode()
    return [
        ["PAYPAL-TRANSMISSION-ID", message],
        ["PAYPAL-TRANSMISSION-TIME", at],
        ["PAYPAL-CERT-URL", "https://api.paypal.com/v1/notifications/certs/CERT-hookmitt"],
        ["PAYPAL-AUTH-ALGO", "SHA256withRSA"],
        ["PAYPAL-TRANSMISSION-SIG", signature],
    ]


def paypal_verify(order):
    from OpenSSL import crypto
    from paypalrestsdk.notifications import WebhookEvent

    leaf, root = keys.certificate(order["public_key"], "messageverificationcerts.paypal.com")
    store = crypto.X509Store()
    store.add_cert(crypto.X509.from_cryptography(root))

    # The test supplies the certificate and its authority; the SDK checks chain, name, age and signature.
    WebhookEvent._get_cert = staticmethod(lambda url: crypto.X509.from_cryptography(leaf))
    WebhookEvent._get_certificate_store = classmethod(lambda cls: store)
    valid = WebhookEvent.verify(
        order.header("paypal-transmission-id"),
        order.header("paypal-transmission-time"),
        order["params"]["webhook_id"],
        order.text,
        order.header("paypal-cert-url"),
        order.header("paypal-transmission-sig"),
        order.header("paypal-auth-algo"),
    )
    demand(valid, "WebhookEvent.verify")


def gocardless_sign(order):
    return [["Webhook-Signature", mac(order["secret"], order.body).hexdigest()]]


def gocardless_verify(order):
    from gocardless_pro import webhooks

    webhooks.parse(order.text, order["secret"], order.header("webhook-signature"))


def coinbase_sign(order):
    return [["X-CC-Webhook-Signature", mac(order["secret"], order.body).hexdigest()]]


def coinbase_verify(order):
    from coinbase_commerce.webhook import Webhook

    Webhook.construct_event(order.text, order.header("x-cc-webhook-signature"), order["secret"])


SDKS = {
    "stripe": Sdk("stripe", stripe_sign, stripe_verify, "recipe accepted by verify_header"),
    "adyen": Sdk("Adyen", adyen_sign, adyen_verify),
    "square": Sdk("squareup", square_sign, square_verify, "recipe accepted by verify_signature"),
    "razorpay": Sdk("razorpay", razorpay_sign, razorpay_verify, "recipe accepted by verify_webhook_signature"),
    "braintree": Sdk("braintree", braintree_sign, braintree_verify),
    "paypal": Sdk("paypalrestsdk", paypal_sign, paypal_verify, "recipe accepted by WebhookEvent.verify"),
    "gocardless": Sdk("gocardless_pro", gocardless_sign, gocardless_verify, "recipe accepted by parse"),
    "coinbase_commerce": Sdk("coinbase-commerce", coinbase_sign, coinbase_verify, "recipe accepted by construct_event"),
}
