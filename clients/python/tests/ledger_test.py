"""What answers of the server prove, frame by frame."""

import asyncio

import pytest

from atelier import AtelierError
from atelier.ledger import Ledger


async def test_each_answer_proves_the_edits_up_to_its_own_frame() -> None:
    ledger = Ledger()
    ledger.sent(is_whole=True)
    ledger.edited()
    ledger.sent(is_whole=False)
    first = asyncio.create_task(ledger.saved())
    await asyncio.sleep(0)
    ledger.edited()
    ledger.sent(is_whole=False)
    ledger.answered(is_stored=True)
    ledger.answered(is_stored=True)
    await first
    assert ledger.has_unsaved
    ledger.answered(is_stored=True)
    assert not ledger.has_unsaved


async def test_what_was_not_answered_before_a_connection_was_lost_proves_nothing() -> None:
    ledger = Ledger()
    ledger.sent(is_whole=True)
    ledger.connected()
    ledger.answered(is_stored=True)
    assert ledger.has_unsaved


async def test_after_a_refusal_later_edits_count_only_with_the_whole_document() -> None:
    ledger = Ledger()
    ledger.sent(is_whole=True)
    ledger.answered(is_stored=True)
    ledger.edited()
    ledger.sent(is_whole=False)
    saved = asyncio.create_task(ledger.saved())
    await asyncio.sleep(0)
    ledger.answered(is_stored=False)
    with pytest.raises(AtelierError):
        await saved
    ledger.edited()
    ledger.sent(is_whole=False)
    ledger.answered(is_stored=True)
    assert ledger.has_unsaved
    ledger.sent(is_whole=True)
    ledger.answered(is_stored=True)
    assert not ledger.has_unsaved
