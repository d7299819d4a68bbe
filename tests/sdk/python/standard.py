"""Standard Webhooks and those who use its format."""

import base64
import datetime
import uuid

from .shape import Sdk


def standard(prefix, key=lambda secret: secret):
    """Signs as Standard Webhooks does, with its own library."""

    def sign(order):
        from standardwebhooks import Webhook

        message, at = f"msg_{uuid.uuid4().hex}", datetime.datetime.now(datetime.timezone.utc)
        signature = Webhook(key(order["secret"])).sign(message, at, order.text)
        at = str(int(at.timestamp()))
        return [[f"{prefix}-id", message], [f"{prefix}-timestamp", at], [f"{prefix}-signature", signature]]

    return sign


def standard_verify(order):
    from standardwebhooks import Webhook

    Webhook(order["secret"]).verify(order.text, order.named())


def svix_verify(order):
    from svix.webhooks import Webhook

    Webhook(order["secret"]).verify(order.text, order.named())


def anthropic_verify(order):
    from anthropic import Anthropic

    Anthropic(api_key="hookmitt").beta.webhooks.unwrap(order.text, headers=order.named(), key=order["secret"])


def polar_verify(order):
    from polar.v2026_10.webhooks import PolarWebhookError, PolarWebhookVerificationError, validate_event

    try:
        validate_event(order.body, order.named(), order["secret"])
    except PolarWebhookVerificationError:
        raise
    except PolarWebhookError:
        pass  # verified; the body is no event that this version knows


def raw_key(secret):
    return base64.b64encode(secret.encode()).decode()


SDKS = {
    "standardwebhooks": Sdk("standardwebhooks", standard("webhook"), standard_verify),
    "svix": Sdk("svix", standard("svix"), svix_verify, "standardwebhooks, whose format the SDK verifies"),
    "anthropic": Sdk("anthropic", standard("webhook"), anthropic_verify, "standardwebhooks, which the SDK verifies with"),
    "polar": Sdk("polar-sdk", standard("webhook", raw_key), polar_verify, "standardwebhooks, with the text as the key"),
}
