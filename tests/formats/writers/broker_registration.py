"""A broker's registration in ZooKeeper."""

import orjson

from app.formats.clusters.broker_registration import NEWEST_VERSION, BrokerRegistration


def least_version(registration: BrokerRegistration) -> int:
    """The first version that can say all of a registration."""
    is_present = {
        2: bool(registration.endpoints) or registration.host is None,
        3: registration.rack is not None,
        4: bool(registration.listener_security_protocols),
        5: bool(registration.features),
    }
    return max([1, *(version for version, needs_it in is_present.items() if needs_it)])


def write(registration: BrokerRegistration, *, version: int) -> str:
    """Print the registration as a broker of that version writes it.

    Raises
    ------
    ValueError
        There is no such version, or it cannot express the registration: a rack before version 3, endpoints before 2.
    """
    if not 1 <= version <= NEWEST_VERSION:
        raise ValueError(f"registrations have versions 1 to {NEWEST_VERSION}; {version} given")
    if version < least_version(registration):
        raise ValueError(f"this registration needs version {least_version(registration)}; {version} given")
    members: dict[str, object] = {}
    if version >= 4 and registration.listener_security_protocols:
        # Left out if there are none: an empty map would leave the endpoints without a protocol.
        members["listener_security_protocol_map"] = registration.listener_security_protocols
    if version >= 2:
        members["endpoints"] = registration.endpoints
    if registration.rack is not None:
        members["rack"] = registration.rack
    members["jmx_port"] = registration.jmx_port
    if version >= 5:
        members["features"] = registration.features
    members["host"] = registration.host
    members["timestamp"] = str(registration.timestamp_ms)
    members |= {"port": registration.port, "version": version}
    return orjson.dumps(members).decode()
