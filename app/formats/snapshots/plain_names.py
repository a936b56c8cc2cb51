"""The names of a cluster that texts describe, without control characters: see `app.core.model`."""

from collections.abc import Iterator, Sequence

from app.core.model import Cluster, control_in
from app.core.recorded import RecordedGroup
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.lines import rejection, shown


def require_plain_names(cluster: Cluster, uploads: Sequence[Upload]) -> None:
    """Raise `MalformedText`, with the line if the text has the name as it is, for a name with a control character."""
    for what, name in _names(cluster):
        control = control_in(name) if name else None
        if control is None or name is None:
            continue
        malformed = rejection(
            None, expected=f"{what} without control characters", actual=f"{control} in {shown(name)}", value=name
        )
        for upload in uploads:
            if (place := upload.text.find(name)) >= 0:
                line = upload.text.count("\n", 0, place) + 1
                raise malformed.relocated(line=line, source=upload.name, path=(upload.part or "files",))
        raise malformed


def _names(cluster: Cluster) -> Iterator[tuple[str, str | None]]:
    """Every name that no reader checks by itself, and what it is the name of."""
    yield "a name of the cluster", cluster.name
    for broker in cluster.brokers:
        yield f"a rack of broker {broker.id}", broker.rack
    for number, directories in cluster.log_dirs.items():
        yield from ((f"a log directory of broker {number}", directory.path) for directory in directories)
    for number, cordon in cluster.cordons.items():
        yield from ((f"a cordoned log directory of broker {number}", path) for path in cordon.log_dirs)
    for group in cluster.groups:
        yield from _group_names(group)


def _group_names(group: RecordedGroup) -> Iterator[tuple[str, str | None]]:
    yield "a group id", group.group_id
    for name in (group.state, group.assignor):
        yield f"a state or assignor of group {group.group_id}", name
    for member in group.members:
        names = (member.member_id, member.client_id, member.host, member.group_instance_id, member.rack_id)
        for name in (*names, member.process_id, *(member.topics or ())):
            yield f"a name of a member of group {group.group_id}", name
