"""Flask, Django, Jinja, Werkzeug and Python's own library as they treat a body, a header name or a secret.

In: {"op", "text"}; out: {"text"} or {"error"}, one line for each; text is base64.
"""

import base64
import configparser
import html
import io
import json
import sys
from email.utils import formatdate

import django
import flask
from django.conf import settings
from django.http import HttpRequest, JsonResponse, QueryDict
from django.test import RequestFactory
from jinja2.utils import htmlsafe_json_dumps
from werkzeug.datastructures import MultiDict
from werkzeug.test import EnvironBuilder
from urllib.parse import parse_qsl, quote, urlencode

settings.configure(DEFAULT_CHARSET="utf-8", ALLOWED_HOSTS=["*"])
django.setup()
app = flask.Flask(__name__)


def through_flask(write):
    """What a Flask view gets with get_json() and writes again."""

    def treat(body):
        with app.test_request_context("/in", method="POST", data=body, content_type="application/json"):
            return write(flask.request.get_json(force=True))

    return treat


def flask_form(body):
    kind = "application/x-www-form-urlencoded"
    with app.test_request_context("/in", method="POST", data=body, content_type=kind):
        return urlencode(list(flask.request.form.items(multi=True)))


def django_json(body):
    request = RequestFactory().post("/in", data=body, content_type="application/json")
    return JsonResponse(json.loads(request.body), safe=False).content


def django_form(body):
    request = RequestFactory().post("/in", data=body, content_type="application/x-www-form-urlencoded")
    return request.POST.urlencode()


def text_file(newline):
    """Through a file in text mode, as `open(path, "w")` writes it on Windows or Unix."""

    def treat(body):
        buffer = io.BytesIO()
        writer = io.TextIOWrapper(buffer, encoding="utf-8", newline=newline)
        reader = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline=None)
        writer.write(reader.read())
        writer.flush()
        return buffer.getvalue()

    return treat


def config_value(secret):
    """A quoted value in an .ini file, whose quotes configparser keeps."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string('[hook]\nsecret = "{}"\n'.format(secret.decode()))
    return parser["hook"]["secret"]


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def go_like(value):
    """encoding/json's MarshalIndent, with its escapes of <, > and &; Jinja writes the same three, and one more."""
    pretty = lambda value, **_: json.dumps(value, indent=2, ensure_ascii=False)
    return str(htmlsafe_json_dumps(value, dumps=pretty)).replace("\\u0027", "'")


OPS = {
    # How senders write.
    "write python": lambda body: json.dumps(json.loads(body)),
    "write ascii": lambda body: json.dumps(json.loads(body), separators=(",", ":")),
    "write go": lambda body: go_like(json.loads(body)),
    # What frameworks make of a body.
    "flask jsonify": through_flask(lambda value: flask.jsonify(value).get_data()),
    "flask json.dumps": through_flask(json.dumps),
    "flask json.dumps utf-8": through_flask(lambda value: json.dumps(value, ensure_ascii=False)),
    "flask json.dumps sorted": through_flask(lambda value: json.dumps(value, sort_keys=True)),
    "flask json.dumps compact": through_flask(compact),
    "flask json.dumps indent": through_flask(lambda value: json.dumps(value, indent=4)),
    "jinja tojson": through_flask(lambda value: str(htmlsafe_json_dumps(value))),
    "django JsonResponse": django_json,
    "flask form": flask_form,
    "django form": django_form,
    "form to json": lambda body: json.dumps(dict(parse_qsl(body.decode(), keep_blank_values=True))),
    "form quoted": lambda body: urlencode(parse_qsl(body.decode(), keep_blank_values=True), quote_via=quote),
    # Files, editors, shells.
    "text mode crlf": text_file("\r\n"),
    "text mode lf": text_file("\n"),
    "utf-8-sig": lambda body: body.decode("utf-8").encode("utf-8-sig"),
    "utf-16": lambda body: body.decode("utf-8").encode("utf-16"),
    "latin-1": lambda body: body.decode("utf-8").encode("latin-1"),
    "mojibake": lambda body: body.decode("latin-1").encode("utf-8"),
    "mojibake cp1252": lambda body: body.decode("cp1252", "replace").encode("utf-8"),
    "ascii replace": lambda body: body.decode("utf-8").encode("ascii", "replace"),
    "repr": lambda body: repr(body),
    "str": lambda body: str(json.loads(body)),
    # Secrets and header names.
    "configparser": config_value,
    "html.escape": lambda secret: html.escape(secret.decode()),
    "form value": lambda secret: parse_qsl("secret=" + secret.decode())[0][1],
    "quote": lambda secret: quote(secret.decode(), safe=""),
    "wsgi name": lambda name: next(
        key
        for key in EnvironBuilder(headers={name.decode(): "x"}).get_environ()
        if key.upper() == "HTTP_" + name.decode().upper().replace("-", "_")
    ),
}

for line in sys.stdin:
    order = json.loads(line)
    try:
        made = OPS[order["op"]](base64.b64decode(order["text"]))
        made = made.encode() if isinstance(made, str) else made
        reply = {"text": base64.b64encode(made).decode()}
    except Exception as error:  # any failure is returned as the answer
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)
