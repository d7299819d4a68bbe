"""Certificates for public keys that a test made, where an SDK wants to see who vouches for a key."""

import datetime
import functools

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)


def common_name(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def issued(subject, issuer, key, by, authority):
    now = datetime.datetime.now(datetime.timezone.utc)
    names = (common_name(subject), common_name(issuer))
    builder = x509.CertificateBuilder(names[1], names[0], key, x509.random_serial_number(), now - DAY, now + DAY)
    builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    return builder.sign(by, hashes.SHA256())


@functools.cache
def certificate(public_key, name):
    """The certificate of a key (PEM) for a name, and the one of the authority that issued it."""
    key = serialization.load_pem_public_key(public_key.encode())
    authority = ec.generate_private_key(ec.SECP256R1())
    root = issued("Test authority", "Test authority", authority.public_key(), authority, True)
    return issued(name, "Test authority", key, authority, False), root
