import errno
import os
import threading
import unittest
import unittest.mock

from agent.claims import claim, claims, owns, release_claim
from agent.files import read_json, write_json
from agent.root import prepare_root
from test.agent.support import RootTest, claim_of


class ClaimTest(RootTest):
    def held(self):
        return {key: (held["owner"], held["urn"]) for key, held in claims(self.layout).items()}

    def test_what_is_free_is_taken_and_what_is_ours_is_kept(self):
        claim(self.layout, claim_of("venv", "v"))
        since = claims(self.layout)["venv/v"]["since"]
        claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(claims(self.layout), {"venv/v": {"owner": "o1", "urn": "urn:1", "since": since}})

    def test_another_owner_with_our_urn_is_taken_over_for_its_state_was_lost(self):
        claim(self.layout, claim_of("venv", "v", owner="lost"))
        claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(self.held(), {"venv/v": ("o1", "urn:1")})

    def test_our_owner_under_another_urn_was_renamed(self):
        claim(self.layout, claim_of("venv", "v", urn="urn:old"))
        claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(self.held(), {"venv/v": ("o1", "urn:1")})

    def test_another_stack_keeps_what_it_has_unless_that_is_meant(self):
        claim(self.layout, claim_of("venv", "v", owner="o2", urn="urn:2"))
        fault = self.fault("claimed", claim, self.layout, claim_of("venv", "v"))
        self.assertEqual(
            (fault.message, fault.more["found"]), ("venv v below %s belongs to urn:2" % self.root, "urn:2")
        )
        claim(self.layout, claim_of("venv", "v", takeOver=True))
        self.assertEqual(self.held(), {"venv/v": ("o1", "urn:1")})

    def test_the_same_name_of_another_kind_is_another_thing(self):
        claim(self.layout, claim_of("venv", "v", owner="o2", urn="urn:2"))
        claim(self.layout, claim_of("patch", "v"))
        self.assertEqual(self.held(), {"venv/v": ("o2", "urn:2"), "patch/v": ("o1", "urn:1")})

    def test_only_the_owner_gives_it_back(self):
        claim(self.layout, claim_of("venv", "v"))
        stranger = claim_of("venv", "v", owner="o2")
        self.assertFalse(owns(self.layout, stranger))
        release_claim(self.layout, stranger)
        self.assertEqual(self.held(), {"venv/v": ("o1", "urn:1")})

    def test_with_the_last_claim_goes_all_that_is_ours_up_to_the_folders_that_we_made(self):
        for kind in ("venv", "patch"):
            claim(self.layout, claim_of(kind, "v"))
        write_json(self.layout.at("store", "ab", "abc"), {})
        os.makedirs(self.layout.at("venvs"))
        release_claim(self.layout, claim_of("patch", "v"))
        self.assertTrue(os.path.exists(self.layout.at("store")))
        release_claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(os.listdir(self.parent), [])

    def test_however_many_make_the_root_at_once_all_folders_are_noted(self):
        threads = [threading.Thread(target=prepare_root, args=(self.layout,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(read_json(self.layout.format), {"made": [self.root, os.path.dirname(self.root)]})

    def test_an_agent_that_comes_second_notes_the_folders_that_it_had_made(self):
        def beaten(new, root):
            # The other one found the folder above, which was made a moment ago.
            os.mkdir(root)
            write_json(self.layout.format, {"made": [root]})
            raise OSError(errno.ENOTEMPTY, "Directory not empty")

        with unittest.mock.patch("agent.root.os.rename", beaten):
            prepare_root(self.layout)
        self.assertEqual(read_json(self.layout.format), {"made": [self.root, os.path.dirname(self.root)]})

    def test_a_root_that_was_there_before_stays_with_what_others_put_in_it(self):
        os.makedirs(self.root)
        foreign = os.path.join(self.root, "foreign")
        with open(foreign, "w"):
            pass
        claim(self.layout, claim_of("venv", "v"))
        release_claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(os.listdir(self.root), ["foreign"])
        os.unlink(foreign)
        claim(self.layout, claim_of("venv", "v"))
        release_claim(self.layout, claim_of("venv", "v"))
        self.assertEqual(os.listdir(self.root), [])


if __name__ == "__main__":
    unittest.main()
