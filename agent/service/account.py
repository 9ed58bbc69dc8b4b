"""The user that a service runs as."""

import collections
import grp
import os
import pwd

from agent.fault import Fault

#: name is None and home is None for a number without an entry in the user database.
Account = collections.namedtuple("Account", "name uid gid groups home")


def account(user=None, group=None):
    """The account by name or number; without `user` the one that the agent has. Faults: no-user, no-group, not-root."""
    entry, uid = _user(user)
    gid = _group(group) if group is not None else entry.pw_gid if entry else None
    if gid is None:
        raise Fault(
            "no-group",
            "user %s has no entry in the user database, and no group is given" % user,
            found="no entry for %s" % user,
            expected="a user with an entry, or `group`",
            remedy="set `group`",
        )
    me = os.geteuid()
    if me != 0 and uid != me:
        raise Fault(
            "not-root",
            "the agent runs as uid %d and cannot run a service as %s" % (me, user),
            found="uid %d" % me,
            expected="root, or the same user",
            remedy="set `become: sudo` on the connection, or leave `user` out",
        )
    groups = _groups(entry, gid)
    return Account(entry.pw_name if entry else None, uid, gid, groups, entry.pw_dir if entry else None)


def _groups(entry, gid):
    if os.geteuid() != 0:
        return sorted(set(os.getgroups()) | {gid})
    return sorted(set(os.getgrouplist(entry.pw_name, gid))) if entry else [gid]


def _user(user):
    if user is None:
        user = str(os.geteuid())
    try:
        entry = pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
    except KeyError:
        if user.isdigit():
            return None, int(user)
        raise Fault(
            "no-user",
            "there is no user %s on this host" % user,
            found="no entry in the user database",
            expected="user %s" % user,
            remedy="create it, or set another `user`",
        )
    return entry, entry.pw_uid


def _group(group):
    if group.isdigit():
        return int(group)
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        raise Fault(
            "no-group",
            "there is no group %s on this host" % group,
            found="no entry in the group database",
            expected="group %s" % group,
            remedy="create it, or set another `group`",
        )
