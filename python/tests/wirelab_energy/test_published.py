import pytest

from wirelab_energy import Packet
from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.published import read_published

FIGURE = {"what": "an exchange", "quantity": "energy", "value": "547 mJ", "packets": [], "source": "a paper"}


def test_a_figure_has_its_traffic_and_the_inputs_it_is_of() -> None:
    table = {**FIGURE, "packets": [{"at": "0 s", "up": "30 B"}, {"at": "0.8 s", "down": "20 B"}], "over": "10 s"}
    read = read_published(table, Where("f"))
    assert read.packets == (Packet(0, True, 30), Packet(800_000_000, False, 20))
    assert (read.value, read.written, read.over_s, read.note) == (pytest.approx(0.547), "547 mJ", 10, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantity": "luck"}, "unknown quantity 'luck'"),
        ({"value": "547"}, "has no unit"),
        ({"vale": 1}, "unknown key"),
        ({"same-constants": "yes"}, "same-constants is true or false, not 'yes'"),
    ],
)
def test_a_figure_that_cannot_be_read_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(WirelabError, match=message):
        read_published({**FIGURE, **change}, Where("f"))
