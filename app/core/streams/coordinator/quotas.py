"""How many tasks a member is to have: ⌈tasks left / members left⌉, anew each time a member has that many."""

from dataclasses import dataclass


@dataclass(slots=True)
class Quota:
    """The quota, and what is left once full members and their tasks are no longer counted."""

    tasks: int
    members: int

    @property
    def limit(self) -> int:
        """⌈tasks / members⌉, 0 if no member is left."""
        return -(-self.tasks // self.members) if self.members else 0

    def record(self, tasks_of_member: int) -> None:
        """Note how many tasks a member has now: at the limit it is full."""
        if tasks_of_member == self.limit:
            self.members -= 1
            self.tasks -= tasks_of_member
