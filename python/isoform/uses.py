"""Uses: the places of objects in a value, and replacement at all places.

>>> from isoform import tir
>>> from isoform.uses import Uses, replace_all_uses
>>> a, b = (tir.Var(name, "int32") for name in "ab")
>>> total = tir.Add(a, b)
>>> root = tir.Mul(total, total)
>>> uses = Uses(root)
>>> sorted(str(user.path) for user in uses.users(total))
['<root>.a', '<root>.b']
>>> uses.has_one_use(a), uses.use_count(total)
(True, 2)
>>> uses.replace_all(total, a).b is a
True
>>> replace_all_uses(total, a, b).a is b
True
"""

from isoform._core import Definition, User, Uses, replace_all_uses

__all__ = ["Definition", "User", "Uses", "replace_all_uses"]
