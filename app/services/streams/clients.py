"""A client by its fields, or by its subscription."""

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import replace

from app.core.streams.model import name_of
from app.errors import FieldPath
from app.errors.requests import ConflictingFields, ImpossibleValue, MalformedText
from app.formats.streams import streams_subscription
from app.services.streams.requests import ClientRequest

_OF_SUBSCRIPTION = ("process_id", "client_tags", "previous_active", "previous_standby")


def read_client(client: ClientRequest, path: FieldPath) -> ClientRequest:
    """The client with the fields of its subscription, if it has one: process id, tags, what it runs and has state of.

    How far its state reaches is of no use without the ends of the changelogs; `lags` may say how far it is behind.

    Raises
    ------
    MalformedText, CorruptProtocolBytes : the bytes are no subscription that Kafka Streams writes.
    ConflictingFields : neither or both identify the client. ImpossibleValue : the subscription is from the future.
    """
    if client.subscription_info is None:
        if client.process_id is None:
            detail = "a client needs a process_id, or its subscription_info, which has one"
            raise ConflictingFields(detail, path=(*path, "process_id"))
        return client
    for name in _OF_SUBSCRIPTION:
        if getattr(client, name):
            detail = f"{name} is part of subscription_info; give one of the two"
            raise ConflictingFields(detail, path=(*path, name))
    where = (*path, "subscription_info")
    try:
        info = streams_subscription.read(b64decode(client.subscription_info, validate=True))
    except Base64Error as error:
        detail = f"subscription_info is not base64: {error}"
        raise ImpossibleValue(detail, path=where) from None
    except MalformedText as malformed:
        malformed.path = where
        raise
    if info.process_id is None:
        newest = streams_subscription.NEWEST_VERSION
        detail = f"the subscription is of version {info.version}; versions up to {newest} can be read"
        raise ImpossibleValue(detail, path=where, value=info.version, maximum=newest)
    return replace(
        client,
        process_id=str(info.process_id),
        client_tags=info.client_tags,
        previous_active=[name_of(task) for task in info.previous_active],
        previous_standby=[name_of(task) for task in info.previous_standby],
    )
