"""The digest of a certificate's public key, by which Chromium is made to accept it."""

from __future__ import annotations

import base64
import hashlib
import ssl
from pathlib import Path

_BEFORE = 5
"""Fields of a TBSCertificate between its version and its key: serial number, algorithm, issuer, validity, subject."""
_VERSION = 0xA0


def spki_sha256(chain: Path) -> str:
    """SHA-256, as base64, of the SubjectPublicKeyInfo (RFC 5280, section 4.1) of a PEM file's first certificate."""
    pem = chain.read_text(encoding="ascii")
    end = "-----END CERTIFICATE-----"
    certificate = ssl.PEM_cert_to_DER_cert(pem[: pem.index(end) + len(end)])
    at = _inside(certificate, _inside(certificate, 0))
    for _ in range(_BEFORE + (certificate[at] == _VERSION)):
        at = _end(certificate, at)
    return base64.b64encode(hashlib.sha256(certificate[at : _end(certificate, at)]).digest()).decode()


def _inside(data: bytes, at: int) -> int:
    """Where the contents of the DER element at `at` begin."""
    length = data[at + 1]
    return at + 2 + (length & 0x7F if length & 0x80 else 0)


def _end(data: bytes, at: int) -> int:
    """Where the DER element at `at` ends."""
    inside = _inside(data, at)
    return inside + (data[at + 1] if inside == at + 2 else int.from_bytes(data[at + 2 : inside], "big"))
