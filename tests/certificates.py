"""Certificates for tests: of one authority, or signed by themselves."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both, the key for its owner only; return the files."""
        cert_file, key_file = folder / "cert.pem", folder / "key.pem"
        cert_file.write_bytes(self.cert_pem())
        key_file.touch(mode=0o600)
        key_file.write_bytes(self.key_pem())
        return cert_file, key_file

    def cert_pem(self) -> bytes:
        """Return the certificate."""
        return self.certificate.public_bytes(PEM)

    def key_pem(self, password: bytes | None = None) -> bytes:
        """Return the key, encrypted if there is a password."""
        hidden = (
            serialization.NoEncryption()
            if password is None
            else serialization.BestAvailableEncryption(password)
        )
        return self.key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, hidden)


def certificate(
    *names: str,
    issuer: Pair | None = None,
    begins_in: timedelta = -2 * DAY,
    ends_in: timedelta = DAY,
) -> Pair:
    """Return one for these hosts; without any: an authority. `issuer`: None: it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0] if names else "ca")])
    signer = key if issuer is None else issuer.key
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins_in)
        .not_valid_after(now + ends_in)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if names:
        known = [_name(one) for one in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(known), critical=False)
    else:
        builder = builder.add_extension(_SIGNS, critical=True)
    return Pair(builder.sign(signer, hashes.SHA256()), key)


_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(IPv4Address(text))
    except ValueError:
        return x509.DNSName(text)
