"""The attacks of this folder, a few of each: `faults.abort` and `faults.kill` make thousands, and print figures."""

from faults import abort, kill, replay


async def test_l15_c09_c16_turns_that_are_stopped_at_random_moments_end_once_and_whole() -> None:
    found, figures = await abort.attack(tries=9, seed=1, beside=3)
    assert found == []
    assert figures["counts"]["aborted"] >= 9


async def test_c09_c13_d10_servers_that_are_killed_at_random_moments_lose_and_brick_nothing() -> None:
    found, figures = await kill.attack(runs=2, seed=1)
    assert found == []
    assert figures["counts"]["acknowledged"] >= 2


async def test_a_client_that_attaches_at_random_moments_misses_nothing() -> None:
    found, cuts = await replay.attack(runs=2, seed=1)
    assert found == []
    assert cuts == 12
