"""A certificate for 127.0.0.1 that signs itself, made without any program: RSA and DER by hand, for tests alone."""

import base64
import hashlib
import secrets
import time
from pathlib import Path

SHA256_WITH_RSA = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b"
RSA = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"
SHA256 = b"\x60\x86\x48\x01\x65\x03\x04\x02\x01"
COMMON_NAME = b"\x55\x04\x03"
KEY_ID, KEY_USAGE, OTHER_NAME, CONSTRAINTS, ISSUER_KEY_ID = (b"\x55\x1d" + bytes([n]) for n in (14, 15, 17, 19, 35))
NULL = b"\x05\x00"
DAY = 86_400


def make_certificate(folder: Path) -> Path:
    """Writes `server.pem`, which is returned, and beside it the `key.pem` that belongs to it."""
    p, q, e = prime(1024), prime(1024), 65537
    n, d = p * q, pow(e, -1, (p - 1) * (q - 1))
    numbers = (0, n, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
    certificate, key = folder / "server.pem", folder / "key.pem"
    key.write_text(pem("RSA PRIVATE KEY", sequence(*map(integer, numbers))))
    facts = to_be_signed(n, e)
    certificate.write_text(pem("CERTIFICATE", sequence(facts, algorithm(SHA256_WITH_RSA), bits(sign(facts, n, d)))))
    return certificate


def to_be_signed(n: int, e: int) -> bytes:
    public = sequence(integer(n), integer(e))
    key_id = hashlib.sha1(public).digest()
    name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0C, b"127.0.0.1"))))
    validity = sequence(*(der(0x17, time.strftime("%y%m%d%H%M%SZ", at).encode()) for at in days(-1, 2)))
    extensions = sequence(
        extension(KEY_ID, der(0x04, key_id)),
        extension(ISSUER_KEY_ID, sequence(der(0x80, key_id))),
        extension(CONSTRAINTS, sequence(der(0x01, b"\xff")), critical=True),
        extension(KEY_USAGE, der(0x03, b"\x02\xa4"), critical=True),  # signs, carries keys, signs certificates
        extension(OTHER_NAME, sequence(der(0x87, bytes([127, 0, 0, 1])))),
    )
    key = sequence(algorithm(RSA), bits(public))
    version, serial = der(0xA0, integer(2)), integer(secrets.randbits(64) | 1)
    return sequence(version, serial, algorithm(SHA256_WITH_RSA), name, validity, name, key, der(0xA3, extensions))


def sign(data: bytes, n: int, d: int) -> bytes:
    digest = sequence(algorithm(SHA256), der(0x04, hashlib.sha256(data).digest()))
    size = (n.bit_length() + 7) // 8
    padded = b"\x00\x01" + b"\xff" * (size - 3 - len(digest)) + b"\x00" + digest
    return pow(int.from_bytes(padded, "big"), d, n).to_bytes(size, "big")


def prime(size: int) -> int:
    """The two highest bits are set, so that the product of two has twice the size."""
    while True:
        number = secrets.randbits(size) | (0b11 << (size - 2)) | 1
        if number % 65537 != 1 and all(number % small for small in (3, 5, 7, 11, 13, 17, 19, 23)) and is_prime(number):
            return number


def is_prime(number: int, rounds: int = 20) -> bool:
    """Miller and Rabin's test."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(rounds):
        value = pow(secrets.randbelow(number - 3) + 2, odd, number)
        if value in (1, number - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % number
            if value == number - 1:
                break
        else:
            return False
    return True


def days(*offsets: int) -> list[time.struct_time]:
    return [time.gmtime(time.time() + offset * DAY) for offset in offsets]


def der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def sequence(*items: bytes) -> bytes:
    return der(0x30, b"".join(items))


def integer(value: int) -> bytes:
    return der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(name: bytes) -> bytes:
    return der(0x06, name)


def algorithm(name: bytes) -> bytes:
    return sequence(oid(name), NULL)


def bits(content: bytes) -> bytes:
    return der(0x03, b"\x00" + content)


def extension(name: bytes, value: bytes, *, critical: bool = False) -> bytes:
    return sequence(oid(name), *([der(0x01, b"\xff")] if critical else []), der(0x04, value))


def pem(label: str, content: bytes) -> str:
    text = base64.encodebytes(content).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"
