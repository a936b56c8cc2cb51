"""A bin of a Java HashMap that is a red-black tree, because it holds many keys.

Its keys are iterated not in the tree's order but along a chain that the tree's changes reorder: a new key goes into the
chain right behind its parent in the tree, and whichever key becomes the root moves to the front. So the tree has to be
maintained just as in Java, rotation by rotation.

Keys are ordered in the tree by (spread) hash, then by `compareTo` if their class is Comparable. Keys of equal hash that
cannot be compared are ordered by Java's `identityHashCode`, which is random in every run: their order cannot be
predicted, and here the later one goes left.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

LEFT, RIGHT = 0, 1


class Node(Generic[Key, Value]):
    """One key of a hash map; the tree's fields mean something only inside a `TreeBin`."""

    __slots__ = ("child", "hash", "is_red", "key", "next", "parent", "prev", "value")

    def __init__(self, key: Key, spread_hash: int, value: Value) -> None:
        self.key = key
        self.hash = spread_hash
        self.value = value
        self.next: Node[Key, Value] | None = None
        self.prev: Node[Key, Value] | None = None
        self.parent: Node[Key, Value] | None = None
        self.child: list[Node[Key, Value] | None] = [None, None]
        self.is_red = False


class TreeBin(Generic[Key, Value]):
    """A chain of nodes with a red-black tree over them.

    Parameters
    ----------
    head : the first node of a chain, whose order is the one that the tree is built in. It may not be the first after.
    order : the sort key of a node's key, or None if the class is not Comparable.
    """

    __slots__ = ("_order", "head", "root")

    def __init__(self, head: Node[Key, Value], order: Callable[[Key], Any] | None) -> None:
        self._order = order
        self.head = head
        self.root = head
        nodes = list(chain(head))
        for previous, node in zip([None, *nodes], nodes, strict=False):
            node.prev = previous
            node.parent = None
            node.child = [None, None]
            node.is_red = False
        for node in nodes[1:]:
            parent, side = self._place_of(node)
            self._hang(node, parent, side)
        self._move_root_to_front()

    def insert(self, node: Node[Key, Value]) -> None:
        """Add a node whose key is not in the bin."""
        parent, side = self._place_of(node)
        node.prev, node.next = parent, parent.next
        if node.next is not None:
            node.next.prev = node
        parent.next = node
        self._hang(node, parent, side)
        self._move_root_to_front()

    def remove(self, node: Node[Key, Value]) -> bool:
        """Take a node out, as `Map.remove` does. False if the bin is now to be a plain chain, from `head` on."""
        if not self._unlink(node):
            return False
        left = self.root.child[LEFT]
        # Java's test for a bin that has become small; depending on the tree's shape it means 2 to 6 keys.
        if self.root.child[RIGHT] is None or left is None or left.child[LEFT] is None:
            return False
        self._take_down(node)
        self._move_root_to_front()
        return True

    def remove_by_iterator(self, node: Node[Key, Value]) -> bool:
        """Take a node out, as an iterator's `remove` does: it moves no other node. False if the bin is empty now."""
        if not self._unlink(node):
            return False
        self._take_down(node)
        return True

    def _unlink(self, node: Node[Key, Value]) -> bool:
        """Take a node out of the chain; False if it was the only one."""
        if node.next is not None:
            node.next.prev = node.prev
        if node.prev is not None:
            node.prev.next = node.next
        elif node.next is not None:
            self.head = node.next
        else:
            return False
        return True

    def _move_root_to_front(self) -> None:
        root = self.root
        if root is self.head:
            return
        if root.prev is not None:
            root.prev.next = root.next
        if root.next is not None:
            root.next.prev = root.prev
        root.prev, root.next = None, self.head
        self.head.prev = root
        self.head = root

    def _place_of(self, node: Node[Key, Value]) -> tuple[Node[Key, Value], int]:
        """The node that will be a new node's parent, and on which side."""
        place: Node[Key, Value] | None = self.root
        while place is not None:
            parent, side = place, self._side(node, place)
            place = parent.child[side]
        return parent, side

    def _side(self, node: Node[Key, Value], other: Node[Key, Value]) -> int:
        if node.hash != other.hash:
            return RIGHT if node.hash > other.hash else LEFT
        if self._order is None:
            return LEFT
        return RIGHT if self._order(node.key) > self._order(other.key) else LEFT

    def _hang(self, node: Node[Key, Value], parent: Node[Key, Value], side: int) -> None:
        """Hang a new node into the tree, and restore that no red node has a red parent."""
        node.parent = parent
        parent.child[side] = node
        node.is_red = True
        above: Node[Key, Value] | None = parent
        while above is not None and above.is_red and (grand := above.parent) is not None:
            side = RIGHT if above is grand.child[RIGHT] else LEFT
            uncle = grand.child[1 - side]
            grand.is_red = True
            if uncle is not None and uncle.is_red:
                uncle.is_red = above.is_red = False
                node, above = grand, grand.parent
                continue
            if node is above.child[1 - side]:
                self._rotate(above, side)
                above = node
            above.is_red = False
            self._rotate(grand, 1 - side)
            return
        self.root.is_red = False

    def _take_down(self, node: Node[Key, Value]) -> None:
        """Take a node out of the tree, and restore that every way down passes as many black nodes."""
        left, right = node.child
        if left is not None and right is not None:
            self._swap_with_successor(node, left, right)
            left, right = node.child
        heir = left if left is not None else right
        if heir is not None:
            self._put_in_place_of(node, heir)
            if heir is self.root:
                heir.is_red = False
        if not node.is_red:
            self._balance_without(node if heir is None else heir)
        # A node without children stays while the tree is balanced around it, and leaves only then.
        if heir is None and node.parent is not None:
            node.parent.child[node.parent.child[RIGHT] is node] = None

    def _swap_with_successor(self, node: Node[Key, Value], left: Node[Key, Value], right: Node[Key, Value]) -> None:
        """Let a node and the next one in the tree's order change places and colours."""
        successor = right
        while (further := successor.child[LEFT]) is not None:
            successor = further
        node.is_red, successor.is_red = successor.is_red, node.is_red
        parent, child = successor.parent, successor.child[RIGHT]
        self._put_in_place_of(node, successor)
        successor.child[LEFT] = left
        left.parent = successor
        if successor is right:
            successor.child[RIGHT] = node
            node.parent = successor
        else:
            successor.child[RIGHT] = right
            right.parent = successor
            node.parent = parent
            if parent is not None:
                parent.child[LEFT] = node
        node.child = [None, child]
        if child is not None:
            child.parent = node

    def _balance_without(self, node: Node[Key, Value]) -> None:
        """Make up for one black node less on the ways through `node`."""
        while node is not self.root and (parent := node.parent) is not None and not node.is_red:
            side = RIGHT if parent.child[RIGHT] is node else LEFT
            sibling = parent.child[1 - side]
            if sibling is not None and sibling.is_red:
                sibling.is_red = False
                parent.is_red = True
                self._rotate(parent, side)
                sibling = parent.child[1 - side]
            if sibling is None:
                node = parent
                continue
            near, far = sibling.child[side], sibling.child[1 - side]
            far_is_red = far is not None and far.is_red
            if far_is_red or (near is not None and near.is_red):
                self._borrow(parent, sibling, side)
                return
            sibling.is_red = True
            node = parent
        if node is not self.root:
            node.is_red = False

    def _borrow(self, parent: Node[Key, Value], sibling: Node[Key, Value], side: int) -> None:
        """Let a red child of the sibling make up for the black node that is missing on the other side."""
        near, far = sibling.child[side], sibling.child[1 - side]
        if near is not None and (far is None or not far.is_red):
            sibling.is_red = True
            self._rotate(sibling, 1 - side)
            sibling, far = near, sibling
        sibling.is_red = parent.is_red
        if far is not None:
            far.is_red = False
        parent.is_red = False
        self._rotate(parent, side)

    def _rotate(self, node: Node[Key, Value], side: int) -> None:
        """Let a node sink to one side; its child of the other side rises."""
        riser = node.child[1 - side]
        if riser is None:
            return
        inner = riser.child[side]
        node.child[1 - side] = inner
        if inner is not None:
            inner.parent = node
        self._put_in_place_of(node, riser)
        if riser is self.root:
            riser.is_red = False
        riser.child[side] = node
        node.parent = riser

    def _put_in_place_of(self, node: Node[Key, Value], successor: Node[Key, Value]) -> None:
        successor.parent = node.parent
        if node.parent is None:
            self.root = successor
        else:
            node.parent.child[node.parent.child[RIGHT] is node] = successor


def chain(head: Node[Key, Value] | None) -> Iterator[Node[Key, Value]]:
    """The nodes of a chain, in its order."""
    while head is not None:
        yield head
        head = head.next
