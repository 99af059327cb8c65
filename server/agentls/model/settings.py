"""What must be known of a provider before a request can be sent to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from agentls.model.failures import Endpoint


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """`key_from` names the variable or setting of the key, `timeout` is how many seconds may pass without data.

    `needs_key`: without one a request is pointless. `label` is the name for people. `aliases` turn the user's names of
    models into the server's.
    """

    name: str
    base_url: str
    api: str = "chat"
    label: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    needs_key: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float | None = None
    ca_file: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def origin(self) -> str:
        """Scheme, host and port; never a path, a query or a password."""
        parts = urlsplit(self.base_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")

    @property
    def loopback(self) -> bool:
        return is_loopback(urlsplit(self.base_url).hostname or "")

    def endpoint(self, model: str) -> Endpoint:
        secrets = (self.api_key or "", *self.headers.values())
        return Endpoint(self.name, model, self.origin, self.key_from, self.loopback, tuple(s for s in secrets if s))


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
